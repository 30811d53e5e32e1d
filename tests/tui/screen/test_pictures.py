"""Every place as it looks, at both sizes: compared with the pictures in `pictures/`."""

from __future__ import annotations

from staging import BOTH, SIZES, SMALL, Show, Stage

from infospace import Space
from tui.widgets.details.resource_data import ResourceData


class TestPictures:
    """What is on the screen is what is in the picture."""

    @BOTH
    def test_runs(self, show: Show, furnished: Space, size: str) -> None:
        """The list, and what is said of the run at the cursor."""

        async def story(stage: Stage) -> None:
            await stage.sees("run_1 ", "2/2", "5/5", "5 runs")
            await stage.press("down", "down", "m")
            await stage.sees("step 2 waits: Which year", "●")
            await stage.is_as(f"runs-{size}")

        show(story, SIZES[size], furnished)

    @BOTH
    def test_plan(self, show: Show, furnished: Space, size: str) -> None:
        """The tree of a run with a loop and a branch, and its bars."""

        async def story(stage: Stage) -> None:
            await stage.open("run_1")
            await stage.sees("for-each", "item 3", "then", "12 executions")
            await stage.press("t", "down")
            await stage.until(lambda: "█" in stage.text)
            await stage.is_as(f"plan-{size}")

        show(story, SIZES[size], furnished)

    @SMALL
    def test_plan_that_failed(self, show: Show, furnished: Space, size: str) -> None:
        """Why stands below."""

        async def story(stage: Stage) -> None:
            await stage.open("run_2")
            await stage.press("n")
            await stage.until(lambda: stage.app.chosen == "2", "the step that failed")
            await stage.is_as(f"failed-{size}")

        show(story, SIZES[size], furnished)

    @SMALL
    def test_plan_that_is_refused(self, show: Show, furnished: Space, size: str) -> None:
        """Each problem stands below its step, with its fix."""
        from furnishing import REFUSED

        async def story(stage: Stage) -> None:
            stage.app.open_plan(REFUSED)
            await stage.go("plan")
            await stage.sees("1 error", "a Collection is wanted")
            await stage.press("n")
            await stage.sees("wrong-kind")
            await stage.is_as(f"refused-{size}")

        show(story, SIZES[size], furnished)

    @BOTH
    def test_step(self, show: Show, furnished: Space, size: str) -> None:
        """Arguments with what they referred to, and the result as a table."""

        async def story(stage: Stage) -> None:
            await stage.open("run_1", "2", "step")
            await stage.sees("for-each → $all", "three!", "was Collection_1, of step 1")
            await stage.is_as(f"step-{size}")

        show(story, SIZES[size], furnished)

    @BOTH
    def test_variables(self, show: Show, furnished: Space, size: str) -> None:
        """What was bound in the middle of the loop."""

        async def story(stage: Stage) -> None:
            await stage.open("run_1", None, "variables")
            await stage.sees("12 of 12")
            await stage.press(*["comma"] * 9)
            await stage.sees("3 of 12", "$loud", "$item")
            value = stage.app.screen.query_one("#value", ResourceData)
            await stage.until(lambda: value.copied()[0] == "one", "the value at the cursor")
            await stage.is_as(f"variables-{size}")

        show(story, SIZES[size], furnished)

    @SMALL
    def test_question(self, show: Show, furnished: Space, size: str) -> None:
        """The choices of the schema."""

        async def story(stage: Stage) -> None:
            await stage.open("run_3")
            await stage.sees("step 2 waits: Which year was it?")
            await stage.press("a")
            await stage.sees("1985", "another")
            await stage.is_as(f"question-{size}")

        show(story, SIZES[size], furnished)

    @SMALL
    def test_help(self, show: Show, furnished: Space, size: str) -> None:
        """What the place is for, and its keys."""

        async def story(stage: Stage) -> None:
            await stage.sees("run_5", "2/2")
            await stage.press("question_mark")
            await stage.sees("Help: Runs", "All runs of the space")
            await stage.is_as(f"help-{size}")

        show(story, SIZES[size], furnished)
