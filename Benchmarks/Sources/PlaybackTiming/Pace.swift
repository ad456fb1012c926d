import Glibc

/// Absolute deadlines at equal intervals, which threads wait for with `clock_nanosleep`.
struct Pace {
  private let interval: Int
  private(set) var deadline = timespec()

  init(interval: Int) {
    self.interval = interval
    unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
  }

  /// Sleeps until the next deadline. Returns how many microseconds too late it woke up.
  @discardableResult
  mutating func sleep() -> Double {
    deadline.tv_nsec += interval
    if deadline.tv_nsec >= 1_000_000_000 {
      deadline.tv_nsec -= 1_000_000_000
      deadline.tv_sec += 1
    }
    while unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nil) != 0 {}
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    let late = (now.tv_sec - deadline.tv_sec) * 1_000_000_000 + now.tv_nsec - deadline.tv_nsec
    return Double(late) / 1000
  }
}
