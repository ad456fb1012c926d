/// Which frames of `DecodeAhead` are claimed, decoded or held, and what each side does next: its state
/// under the lock, decided without threads.
struct DecodeQueue {
  /// What became of one frame.
  enum Slot {
    case waiting
    case claimed
    case done(FramePixels)
    case failed(AnimatedImageError)
  }

  /// Counts the jumps: work begun before one is thrown away.
  var generation = 0
  /// Slots of the frames from `base` on.
  var slots: [Slot] = []
  /// What each slot is charged with.
  var charges: [Int] = []
  var base = 0
  /// The next frame nobody has begun.
  var nextClaim = 0
  /// Frames from here on are not begun ahead.
  var end = Int.max
  /// Bytes of frames that are claimed or finished, the one in the consumer's hands included.
  var heldBytes = 0
  /// What of that is in the consumer's hands.
  var takenBytes = 0
  var helperCount = 0
  /// Helpers' decoders between two times that there was work.
  var idleDecoders: [FrameDecoder] = []
  var isConsumerWaiting = false
  /// Whether the consumer is in a frame of its own, after which there is room for another one.
  var isConsumerDecoding = false
  var spares = SpareFrames()
  var isStopped = false
  /// What `DecodeMemory` was charged with.
  var chargedBytes = 0

  /// Bytes of frames and of memory kept for them.
  var byteCount: Int { heldBytes + spares.byteCount }

  /// What the consumer does next.
  enum Step {
    case ready(FramePixels)
    case failed(AnimatedImageError)
    case decode(DecodeClaim)
    case wait
  }

  /// The consumer needs frame `index`.
  mutating func step(
    for index: Int, frames: [FrameControl], window: DecodeWindow, memory: DecodeMemory
  ) -> Step {
    let place = index - base
    // A frame that was taken never comes again: waiting for it would have no end.
    precondition(place >= 0, "frames are taken in order")
    if slots.indices.contains(place) {
      switch slots[place] {
      case .done(let pixels):
        release(through: place)
        return .ready(pixels)
      case .failed(let error): return .failed(error)
      case .claimed, .waiting: break
      }
    }
    // Its own frame first; then any other, so that it does not sit idle.
    if nextClaim <= index
      || canClaim(for: .consumer, frames: frames, window: window, memory: memory)
    {
      isConsumerDecoding = true
      return .decode(claim(for: .consumer, frames: frames, window: window))
    }
    isConsumerWaiting = true
    return .wait
  }

  /// Whether one more frame may be begun.
  func canClaim(
    for side: DecodeSide, frames: [FrameControl], window: DecodeWindow, memory: DecodeMemory
  ) -> Bool {
    guard nextClaim < min(frames.count, end), nextClaim - base < window.frames else {
      return false
    }
    let (charge, spare) = charge(of: frames[nextClaim], for: side, window: window)
    return heldBytes == 0
      || heldBytes + charge <= window.bytes && (spare != nil || memory.admits(charge))
  }

  /// What a helper does next.
  enum HelperStep {
    case decode([DecodeClaim])
    /// The window is full, but not for long.
    case wait
    case end
  }

  /// Claims frames in order until they have `pixels` pixels. When the window is full, the helper may
  /// wait while the consumer decodes, since it takes a frame next; else it ends.
  mutating func helperStep(
    frames: [FrameControl], window: DecodeWindow, memory: DecodeMemory, pixels: Int,
    mayWait: Bool
  ) -> HelperStep {
    var claims: [DecodeClaim] = []
    var sum = 0
    while !isStopped, sum < pixels,
      canClaim(for: .helper, frames: frames, window: window, memory: memory)
    {
      sum += frames[nextClaim].rect.size.area
      claims.append(claim(for: .helper, frames: frames, window: window))
    }
    if !claims.isEmpty { return .decode(claims) }
    if mayWait, isConsumerDecoding, !isStopped, nextClaim < min(frames.count, end) {
      return .wait
    }
    helperCount -= 1
    return .end
  }

  private mutating func claim(
    for side: DecodeSide, frames: [FrameControl], window: DecodeWindow
  ) -> DecodeClaim {
    let index = nextClaim
    while slots.count <= index - base {
      slots.append(.waiting)
      charges.append(0)
    }
    slots[index - base] = .claimed
    nextClaim += 1
    let (bytes, spare) = charge(of: frames[index], for: side, window: window)
    charges[index - base] = bytes
    heldBytes += bytes
    if let spare { spares.remove(spare) }
    let pixels = spare ?? FramePixels(largestByteCount: window.largestByteCount)
    pixels.side = side
    pixels.inPlaceLayout = window.form(of: frames[index])
    return DecodeClaim(index: index, generation: generation, pixels: pixels)
  }

  /// A claimed frame is decoded; says whether the consumer has to be woken.
  mutating func finish(
    _ claim: DecodeClaim, _ result: Result<Void, AnimatedImageError>, window: DecodeWindow,
    memory: DecodeMemory
  ) -> Bool {
    guard claim.generation == generation, !isStopped else {
      keep(claim.pixels, window: window, memory: memory)
      return false
    }
    switch result {
    case .success: slots[claim.index - base] = .done(claim.pixels)
    case .failure(let error): slots[claim.index - base] = .failed(error)
    }
    defer { isConsumerWaiting = false }
    return isConsumerWaiting
  }

  /// Keeps the memory of a frame for another one while all together stay within the window: blocks
  /// only grow, and a window of many small frames would in time hold as many of the largest. None is
  /// kept once all frames that were wanted are begun: nobody may ever ask for another.
  mutating func keep(_ pixels: FramePixels, window: DecodeWindow, memory: DecodeMemory) {
    guard !isStopped, nextClaim < end, memory.admits(0) else {
      spares = SpareFrames()
      return
    }
    let bytes = pixels.storage.byteCount
    guard heldBytes + spares.byteCount + bytes <= window.bytes else { return }
    spares.append(pixels)
  }

  /// The consumer is done with the frame in its hands.
  mutating func takeBack(_ pixels: FramePixels, window: DecodeWindow, memory: DecodeMemory) {
    heldBytes -= takenBytes
    takenBytes = 0
    isConsumerDecoding = false
    keep(pixels, window: window, memory: memory)
  }

  /// The frame at `place` goes into the consumer's hands, and all before it away.
  private mutating func release(through place: Int) {
    heldBytes -= takenBytes + charges[..<place].reduce(0, +)
    takenBytes = charges[place]
    slots.removeFirst(place + 1)
    charges.removeFirst(place + 1)
    base += place + 1
  }

  /// Bytes that the frame claimed next is charged with, and the memory it gets when that is not new.
  /// A small frame is charged with the memory that a larger one had before it; else one block after
  /// the other would grow to the largest frame, uncounted.
  private func charge(
    of control: FrameControl, for side: DecodeSide, window: DecodeWindow
  ) -> (bytes: Int, spare: FramePixels?) {
    let needed = window.byteCount(of: control)
    let spare = spares.next(
      for: side, needed: needed, room: window.bytes - heldBytes - spares.byteCount)
    return (max(needed, spare?.storage.byteCount ?? 0), spare)
  }
}

/// A frame that one thread has taken on, with the memory it decodes into.
struct DecodeClaim {
  let index: Int
  let generation: Int
  let pixels: FramePixels
}

/// Who decodes a frame: the thread that composites, or one that works ahead of it.
package enum DecodeSide {
  case consumer, helper
}

/// Memory of frames that were drawn, for those to come.
///
/// Each side of `DecodeAhead` gets back what it filled itself: that lies in its core's cache, where
/// memory that the other core has written has to be fetched and taken away from there, line by line.
/// A frame took up to half as long again when both sides used each other's; that this is why is not
/// shown by a counter.
struct SpareFrames {
  private var consumer: [FramePixels] = []
  private var helper: [FramePixels] = []
  /// Bytes that all of them hold.
  private(set) var byteCount = 0

  /// Memory for a frame of `needed` bytes; nil when that should be new, as there is `room` for it.
  func next(for side: DecodeSide, needed: Int, room: Int) -> FramePixels? {
    let (own, other) = side == .consumer ? (consumer, helper) : (helper, consumer)
    return own.last ?? (needed <= room ? nil : other.last)
  }

  /// Takes what ``next(for:needed:room:)`` gave.
  mutating func remove(_ pixels: FramePixels) {
    let removed = pixels.side == .consumer ? consumer.popLast() : helper.popLast()
    byteCount -= removed?.storage.byteCount ?? 0
  }

  mutating func append(_ pixels: FramePixels) {
    byteCount += pixels.storage.byteCount
    if pixels.side == .consumer { consumer.append(pixels) } else { helper.append(pixels) }
  }
}
