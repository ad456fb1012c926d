import signal
from pathlib import Path

import pytest

import hostile
from signals import Sender

ROOT = Path(__file__).resolve().parents[2]
FILES = {}


@pytest.fixture(scope="session")
def fixtures() -> Path:
    return ROOT / "Fixtures"


@pytest.fixture
def delays(fixtures: Path) -> Path:
    return fixtures / "Demo" / "variable-delay.gif"


@pytest.fixture(scope="module")
def files():
    """Each takes many seconds to decode, within the strict limits."""
    if not FILES:
        FILES.update(
            large=hostile.large_frames(250), dots=hostile.dots(10_000),
            cleared=hostile.dots(10_000, disposal=2), hidden=hostile.hidden(250),
            cut=hostile.large_frames(250, cut=True), deep=hostile.noise(30))
    return FILES


@pytest.fixture
def interrupt():
    """Sends Ctrl-C after a while, and tells when."""
    sender = Sender(signal.SIGINT, 0.2)
    yield sender, sender.sent
    if sender.is_alive():
        sender.join()
