/// The best that a cache could have done if it had known all requests in advance.
public enum BestCache {
  /// Whether each request is a hit under Bélády's policy, which evicts the entry whose next use is furthest away, and
  /// does not store one whose next use is further away than all others.
  ///
  /// Optimal if all frames have one size, nearly so if sizes are close.
  ///
  /// - Parameters:
  ///   - requests: The requested frames, by number, in order.
  ///   - limit: The number of bytes that the cache may hold.
  ///   - cost: Bytes of the frame with a number.
  public static func hits(
    of requests: [Int], limit: Int, cost: (Int) -> Int
  ) -> [Bool] {
    var nextUse = [Int](repeating: .max, count: requests.count)
    var seenAt: [Int: Int] = [:]
    for place in requests.indices.reversed() {
      nextUse[place] = seenAt[requests[place]] ?? .max
      seenAt[requests[place]] = place
    }
    /// The next use of each frame that is held.
    var held: [Int: Int] = [:]
    var heldCost = 0
    return requests.indices.map { place in
      let frame = requests[place]
      let isHit = held[frame] != nil
      if !isHit { heldCost += cost(frame) }
      held[frame] = nextUse[place]
      while heldCost > limit, let last = held.max(by: { $0.value < $1.value })?.key {
        held[last] = nil
        heldCost -= cost(last)
      }
      return isHit
    }
  }
}

/// The requests while a list of animations is scrolled: those on the screen play side by side, and
/// each step brings the next one in and removes one.
public struct ScrolledList: Sendable {
  /// One thing that happens.
  public enum Event: Sendable, Hashable {
    /// The animation appears on the screen and begins to play.
    case appear(Int)
    /// The next frame of the animation is shown.
    case show(Int)
    /// The animation leaves the screen.
    case vanish(Int)
  }

  /// The events of each pass over the whole list.
  public let passes: [[Event]]

  /// - Parameters:
  ///   - count: Animations in the list.
  ///   - visible: Animations on the screen at one time.
  ///   - frames: Frames that each of them shows between two steps.
  ///   - passes: How often the list is scrolled through.
  ///   - turns: Whether every other pass goes back up; otherwise each begins at the top.
  public init(count: Int, visible: Int, frames: Int, passes: Int, turns: Bool) {
    self.passes = (0..<passes).map { pass in
      let order = turns && pass % 2 == 1 ? Array((0..<count).reversed()) : Array(0..<count)
      var events: [Event] = []
      for step in 0..<count + visible - 1 {
        if step < count { events.append(.appear(order[step])) }
        let onScreen = order[max(step - visible + 1, 0)...min(step, count - 1)]
        for _ in 0..<frames { events += onScreen.map { .show($0) } }
        if step >= visible - 1 { events.append(.vanish(order[step - visible + 1])) }
      }
      return events
    }
  }
}
