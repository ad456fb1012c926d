extension DecodeAhead.State {
  /// What the consumer does next.
  enum Step {
    case ready(FramePixels)
    case failed(AnimatedImageError)
    case decode(DecodeClaim)
    case wait
  }

  /// The consumer needs frame `index`.
  mutating func step(for index: Int, records: [FrameRecord], window: DecodeWindow) -> Step {
    let place = index - base
    if slots.indices.contains(place) {
      switch slots[place] {
      case .done(let pixels):
        release(through: place, records: records)
        return .ready(pixels)
      case .failed(let error): return .failed(error)
      case .claimed, .waiting: break
      }
    }
    // Its own frame first; then any other, so that it does not sit idle.
    if nextClaim <= index || canClaim(records: records, window: window) {
      return .decode(claim(records: records))
    }
    isConsumerWaiting = true
    return .wait
  }

  /// Whether one more frame may be begun.
  func canClaim(records: [FrameRecord], window: DecodeWindow) -> Bool {
    guard nextClaim < min(records.count, end), nextClaim - base < window.frames else {
      return false
    }
    return heldBytes == 0 || heldBytes + charge(of: records[nextClaim]) <= window.bytes
  }

  /// Claims frames in order until they have `pixels` pixels; none when the window is full, which
  /// ends the helper that asks.
  mutating func claimBatch(
    records: [FrameRecord], window: DecodeWindow, pixels: Int
  ) -> [DecodeClaim] {
    var claims: [DecodeClaim] = []
    var sum = 0
    while !isStopped, sum < pixels, canClaim(records: records, window: window) {
      sum += records[nextClaim].control.rect.size.area
      claims.append(claim(records: records))
    }
    if claims.isEmpty { helperCount -= 1 }
    return claims
  }

  private mutating func claim(records: [FrameRecord]) -> DecodeClaim {
    let index = nextClaim
    while slots.count <= index - base {
      slots.append(.waiting)
      charges.append(0)
    }
    slots[index - base] = .claimed
    nextClaim += 1
    charges[index - base] = charge(of: records[index])
    heldBytes += charges[index - base]
    return DecodeClaim(
      index: index, generation: generation, pixels: takeSpare())
  }

  /// A claimed frame is decoded; says whether the consumer has to be woken.
  mutating func finish(
    _ claim: DecodeClaim, _ result: Result<Void, AnimatedImageError>, window: DecodeWindow
  ) -> Bool {
    guard claim.generation == generation, !isStopped else {
      keep(claim.pixels, within: window.bytes)
      return false
    }
    switch result {
    case .success: slots[claim.index - base] = .done(claim.pixels)
    case .failure(let error): slots[claim.index - base] = .failed(error)
    }
    defer { isConsumerWaiting = false }
    return isConsumerWaiting
  }

  /// Keeps the memory of a frame for another one while all together stay within `limit` bytes: blocks
  /// only grow, and a window of many small frames would in time hold as many of the largest.
  mutating func keep(_ pixels: FramePixels, within limit: Int) {
    let bytes = pixels.storage.byteCount
    guard heldBytes + spareBytes + bytes <= limit else { return }
    spareBytes += bytes
    spares.append(pixels)
  }

  private mutating func takeSpare() -> FramePixels {
    guard let pixels = spares.popLast() else { return FramePixels() }
    spareBytes -= pixels.storage.byteCount
    return pixels
  }

  private mutating func release(through place: Int, records: [FrameRecord]) {
    for offset in 0...place { heldBytes -= charges[offset] }
    slots.removeFirst(place + 1)
    charges.removeFirst(place + 1)
    base += place + 1
  }

  /// Bytes that the frame claimed next is charged with: four a pixel is the most an 8-bit layout
  /// takes. A small frame is charged with the memory it gets when a larger one had it before;
  /// else one block after the other would grow to the largest frame, uncounted.
  private func charge(of record: FrameRecord) -> Int {
    let perPixel = record.control.palette == .none ? 4 : 1
    let needed = max(record.control.rect.size.area, 1) * perPixel + 256
    return max(needed, spares.last?.storage.byteCount ?? 0)
  }
}
