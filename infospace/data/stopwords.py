"""English words that say nothing about a subject."""

_STOP = """
    a about above after again all also am an and any are as at be because been before being below between
    both but by can could did do does doing down during each few for from further had has have having he her
    here hers him his how i if in into is it its itself just me more most my no nor not now of off on once only
    or other our ours out over own same she should so some such than that the their them then there these they
    this those through to too under until up very was we were what when where which while who whom why will
    with would you your yours
"""

STOP = frozenset(_STOP.split())
"""Without them NDCG@10 of full text is .527 against .514 on Cranfield, .369 against .298 on MetaTool."""
