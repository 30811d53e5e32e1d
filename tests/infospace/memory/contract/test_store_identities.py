"""What resources count as in sets, and what a Relation keeps when its metadata changes."""

from __future__ import annotations

from store_tools import (
    collection,
    get,
    note,
    relation,
)

from infospace.core.ids import Kind
from infospace.store.changes import Delete, Evidence, MakeNote, Restore, Revise
from infospace.store.protocol import Store


class TestIdentities:
    """A search result counts as what it stands for, anything else as itself."""

    def test_each_kind_of_evidence_has_its_own_identity(self, store: Store) -> None:
        """The source; the source and the range; the tool on its server; in the order asked, doubles too."""
        source, group = note(store, "some text"), collection(store, [])
        arrow = relation(store, source, group)
        tool = {"text": "", "metadata": {"source_id": "t", "server": "mail", "tool": "send"}}
        ids = [store.new_id(Kind.NOTE) for _ in range(4)]
        store.commit(
            [
                MakeNote(ids[0], Evidence(source, 1, 0.5, 0, 4)),
                MakeNote(ids[1], Evidence(source, 1, 0.5, 0, 4, passage=True)),
                MakeNote(ids[2], Evidence(group, 1, 0.5)),
                MakeNote(ids[3], tool, evidence=True),
            ]
        )
        with store.reading() as snapshot:
            found = snapshot.identities([arrow, *ids, source, ids[0], group])
            plain = snapshot.identities([group, source])
        assert found == [arrow, source, f"{source}[0:4]", group, "mail/send", source, source, group]
        assert plain == [group, source]

    def test_a_passage_reads_as_any_search_result(self, store: Store) -> None:
        """That it is one shows in its identity alone, and a deleted source keeps it."""
        source = note(store, "some text")
        ids = [store.new_id(Kind.NOTE) for _ in range(2)]
        hit, passage = (Evidence(source, 1, 0.5, 0, 4, passage=passage) for passage in (False, True))
        store.commit([MakeNote(ids[0], hit), MakeNote(ids[1], passage)])
        assert get(store, ids[0]).content == get(store, ids[1]).content
        store.commit([Delete(source)])
        with store.reading() as snapshot:
            assert snapshot.identities(ids) == [source, f"{source}[0:4]"]

    def test_a_relation_is_revised_and_restored_with_its_ends(self, store: Store) -> None:
        """Its metadata has versions; where it leads does not change."""
        a, b = note(store), note(store)
        arrow = relation(store, a, b, "cites")
        ends = get(store, arrow).content
        store.commit([Revise(arrow, metadata={"since": 1})])
        store.commit([Revise(arrow, metadata={"since": 2}, if_version=2)])
        store.commit([Restore(arrow, 2)])
        found = get(store, arrow)
        assert (found.metadata, found.version, found.content) == ({"since": 1}, 4, ends)
        with store.reading() as snapshot:
            assert (snapshot.get(arrow, 1).metadata, snapshot.get(arrow, 3).metadata) == ({}, {"since": 2})
        assert store.check() == []
