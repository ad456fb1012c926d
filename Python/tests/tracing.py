"""Breaks into calls between any two instructions."""

import sys
import threading


class Interruption(BaseException):
    pass


def break_off():
    raise Interruption


def breaks_in(files, count, call, event=break_off):
    """Run ``call`` with ``event`` after ``count`` instructions in ``files``; returns whether there were so many.

    On a thread of its own: exceptions in the middle of handlers stay on the thread's stack of them.
    """
    steps, has_happened = 0, False

    def trace(frame, kind, argument):
        nonlocal steps, has_happened
        if frame.f_code.co_filename not in files:
            return None
        frame.f_trace_opcodes = True
        if kind == "opcode":
            steps += 1
            if steps > count and not has_happened:
                has_happened = True
                event()
        return trace

    def work():
        # Python 3.12 traces instructions only if a frame asked for them before.
        sys._getframe().f_trace_opcodes = True
        sys.settrace(trace)
        try:
            call()
        except (Interruption, ValueError):
            pass
        finally:
            sys.settrace(None)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return has_happened
