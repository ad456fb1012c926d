import Glibc
import Zoetrope
import ZoetropeProcess

/// What a wait for a descriptor and for the ``WakePipe`` has found.
struct Readiness: OptionSet, Sendable {
  let rawValue: Int
  static let input = Readiness(rawValue: 1)
  static let output = Readiness(rawValue: 2)
  static let wake = Readiness(rawValue: 4)
  /// The terminal or the reader has gone away.
  static let gone = Readiness(rawValue: 8)
}

extension Readiness {
  /// Waits until one of `events` occurs on `descriptor`, until what it leads to goes away, until the ``WakePipe`` is
  /// written to (if `wakes` is true), or until `milliseconds` have passed. A negative number means no time limit.
  init(of descriptor: Int32, _ events: Int16, wakes: Bool, milliseconds: Int32) {
    var requests = [
      pollfd(fd: descriptor, events: events, revents: 0),
      pollfd(fd: wakes ? WakePipe.descriptor : -1, events: Int16(POLLIN), revents: 0),
    ]
    _ = waitForEvents(&requests, milliseconds: milliseconds)
    self = []
    let ended = Int16(POLLHUP) | Int16(POLLERR) | Int16(POLLNVAL)
    if requests[0].revents & Int16(POLLIN) != 0 { insert(.input) }
    if requests[0].revents & Int16(POLLOUT) != 0 { insert(.output) }
    if requests[0].revents & ended != 0 { insert(.gone) }
    if requests[1].revents & Int16(POLLIN) != 0 { insert(.wake) }
  }
}
