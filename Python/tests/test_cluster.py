"""The jobs of Examples/Cluster in one process, where PyArrow is installed."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="PyArrow is not installed")
import zoetrope  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Examples" / "Cluster"))
import job  # noqa: E402
import resize  # noqa: E402


@pytest.mark.parametrize("process", [job.process, resize.process])
def test_a_task_that_lacks_memory_fails_and_writes_nothing(process, delays, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise zoetrope.OutOfMemoryError("outOfMemory", "no memory")

    monkeypatch.setattr(zoetrope._jobs, "open", fail)
    monkeypatch.setattr(zoetrope, "open", fail)
    with pytest.raises(zoetrope.OutOfMemoryError):
        process([str(delays)], str(tmp_path))
    assert list(tmp_path.iterdir()) == []
