internal import CZoetrope
internal import Zoetrope

// Choosing frames.

extension AnimationHandle {
  /// The maximum number of frames that one call may sample.
  private static let maximumSample = 1 << 24

  /// Returns the indices of `count` frames in ascending order. `by` is the number that the header gives to the method
  /// of choosing them.
  func sampleIndices(
    _ by: Int32, count: Int, _ policy: DelayPolicy, in call: DecodingCall
  ) throws(AnimatedImageError) -> [Int] {
    guard count > 0, count <= Self.maximumSample else {
      throw AnimatedImageError(
        .parameter, "count is \(UInt(bitPattern: count)); it must be 1 to \(Self.maximumSample)")
    }
    switch Int(by) {
    case ZOETROPE_BY_TIME:
      return try calls.run(call, work: 16 * count) { [self] in indicesByTime(count, policy) }
    case ZOETROPE_BY_INDEX: return indicesByIndex(count)
    case ZOETROPE_BY_DISTINCT:
      return try calls.run(call, work: .max) { [self] () throws(AnimatedImageError) in
        try distinctIndices(count) { call.isCancelled }
      }
    default: throw AnimatedImageError(.parameter, "by is \(by); it must be 0 to 2")
    }
  }

  private func indicesByIndex(_ count: Int) -> [Int] {
    (0..<count).map { (2 * $0 + 1) * image.frames.count / (2 * count) }
  }

  private func indicesByTime(_ count: Int, _ policy: DelayPolicy) -> [Int] {
    let starts = image.startTimes(policy: policy)
    guard let end = starts.last, end > .zero else { return indicesByIndex(count) }
    var index = 0
    return (0..<count).map { part in
      let time = end * (2 * part + 1) / (2 * count)
      // Find the last frame that has begun at `time`. This skips frames without duration.
      while index + 1 < image.frames.count, starts[index + 1] <= time { index += 1 }
      return index
    }
  }

  private func distinctIndices(
    _ count: Int, _ isCancelled: @Sendable () -> Bool
  ) throws(AnimatedImageError) -> [Int] {
    var distinct = DistinctFrames()
    let reader = FrameReader(image)
    for index in image.frames.indices {
      if isCancelled() { break }
      try distinct.add(index, of: reader, isCancelled: isCancelled)
    }
    let chosen = distinct.choose(count, isCancelled: isCancelled)
    if isCancelled() { throw AnimatedImageError(.cancelled, "stopped between frames") }
    return chosen
  }
}
