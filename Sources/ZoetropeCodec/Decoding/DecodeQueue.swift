extension DecodeAhead {
  /// The state of ``DecodeAhead``, guarded by its lock: the frames that are claimed, decoded or held by the consumer.
  /// The queue decides what the consumer and the helpers do next, but uses no threads itself.
  struct Queue {
    /// The state of one frame.
    enum Slot {
      case waiting
      case claimed
      case done(FramePixels)
      case failed(AnimatedImageError)
    }

    /// A frame claimed by one thread, with the memory into which the thread decodes the frame.
    struct Claim {
      let index: Int
      let generation: Int
      let pixels: FramePixels
    }

    /// A number that is incremented at each restart. Work begun before the latest restart is discarded.
    var generation = 0
    /// The slots of frame `base` and those after it, in order.
    var slots: [Slot] = []
    /// The bytes charged for each slot.
    var charges: [Int] = []
    var base = 0
    /// The first frame whose decoding no thread has begun.
    var nextClaim = 0
    /// The first frame that must not be decoded ahead.
    var end = Int.max
    /// The number of bytes of the frames that are claimed or decoded, including the frame that the consumer holds.
    var heldBytes = 0
    /// The part of ``heldBytes`` that belongs to the frame that the consumer holds.
    var takenBytes = 0
    var helperCount = 0
    /// The helpers' decoders, kept while there is no work.
    var idleDecoders: [FrameDecoder] = []
    var isConsumerWaiting = false
    /// Whether the consumer has begun to decode a frame since it last gave a frame back. If so, the consumer will soon
    /// give back another frame, which makes room.
    var isConsumerDecoding = false
    var spares = SpareFrames()
    var isStopped = false
    /// The number of bytes charged to `DecodeMemory`.
    var chargedBytes = 0

    /// The number of bytes of held frames and spare memory together.
    var byteCount: Int { heldBytes + spares.byteCount }

    /// The consumer's next step.
    enum Step {
      case ready(FramePixels)
      case failed(AnimatedImageError)
      case decode(Claim)
      case wait
    }

    /// Decides the next step of the consumer, which needs frame `index`.
    mutating func step(
      for index: Int, frames: [FrameControl], window: DecodeWindow, memory: DecodeMemory
    ) -> Step {
      let place = index - base
      // A frame that was taken never comes back, so waiting for it would never end.
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
      // Decode the requested frame if no thread has claimed it, and otherwise the next unclaimed frame instead of
      // idling.
      let claim =
        nextClaim <= index
        ? claim(for: .consumer, frames: frames, window: window)
        : claimAhead(for: .consumer, frames: frames, window: window, memory: memory)
      guard let claim else {
        isConsumerWaiting = true
        return .wait
      }
      isConsumerDecoding = true
      return .decode(claim)
    }

    /// Returns whether the next frame may be claimed. Even if it may, another reader can take the memory first.
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

    /// A helper's next step.
    enum HelperStep {
      case decode([Claim])
      /// The window is full, but there will soon be room.
      case wait
      case end
    }

    /// Claims frames in order until together they have at least `pixels` pixels. If no frame can be claimed, the helper
    /// waits while the consumer is decoding, because the consumer will then take a frame and make room. Otherwise the
    /// helper ends.
    mutating func helperStep(
      frames: [FrameControl], window: DecodeWindow, memory: DecodeMemory, pixels: Int,
      mayWait: Bool
    ) -> HelperStep {
      var claims: [Claim] = []
      var sum = 0
      while !isStopped, sum < pixels,
        let claim = claimAhead(for: .helper, frames: frames, window: window, memory: memory)
      {
        sum += frames[claim.index].rect.size.area
        claims.append(claim)
      }
      if !claims.isEmpty { return .decode(claims) }
      if mayWait, isConsumerDecoding, !isStopped, nextClaim < min(frames.count, end) {
        return .wait
      }
      helperCount -= 1
      return .end
    }

    /// Claims the next frame, or returns nil if its decoding may not begin yet. Charges new memory immediately, so that
    /// neither other readers nor later frames of the same batch claim the same room.
    private mutating func claimAhead(
      for side: DecodeSide, frames: [FrameControl], window: DecodeWindow, memory: DecodeMemory
    ) -> Claim? {
      guard canClaim(for: side, frames: frames, window: window, memory: memory) else { return nil }
      let (charge, spare) = charge(of: frames[nextClaim], for: side, window: window)
      if spare == nil {
        if heldBytes == 0 {
          memory.charge(charge)
        } else if !memory.reserve(charge) {
          return nil
        }
        chargedBytes += charge
      }
      return claim(for: side, frames: frames, window: window)
    }

    private mutating func claim(
      for side: DecodeSide, frames: [FrameControl], window: DecodeWindow
    ) -> Claim {
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
      return Claim(index: index, generation: generation, pixels: pixels)
    }

    /// Stores the result of a claimed frame and returns whether to wake the consumer.
    mutating func finish(
      _ claim: Claim, _ result: Result<Void, AnimatedImageError>, window: DecodeWindow,
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

    /// Keeps a frame's memory for reuse if the held frames and the spare memory together stay within the window.
    ///
    /// The total must be bounded because blocks only grow: without a bound, the blocks of many small frames would all
    /// eventually grow to the size of the largest frame. Nothing is kept once all frames to be decoded ahead have been
    /// claimed, because there may be no further request.
    mutating func keep(_ pixels: FramePixels, window: DecodeWindow, memory: DecodeMemory) {
      guard !isStopped, nextClaim < end, memory.admits(0) else {
        spares = SpareFrames()
        return
      }
      let bytes = pixels.storage.byteCount
      guard heldBytes + spares.byteCount + bytes <= window.bytes else { return }
      spares.append(pixels)
    }

    /// Takes back the memory of the frame that the consumer holds.
    mutating func takeBack(_ pixels: FramePixels, window: DecodeWindow, memory: DecodeMemory) {
      heldBytes -= takenBytes
      takenBytes = 0
      isConsumerDecoding = false
      keep(pixels, window: window, memory: memory)
    }

    /// Hands the frame in slot `place` to the consumer, and drops this slot and all earlier ones.
    private mutating func release(through place: Int) {
      heldBytes -= takenBytes + charges[..<place].reduce(0, +)
      takenBytes = charges[place]
      slots.removeFirst(place + 1)
      charges.removeFirst(place + 1)
      base += place + 1
    }

    /// Returns the number of bytes to charge for the frame `control`, and the spare memory that the frame will reuse,
    /// or nil if it will reuse none.
    ///
    /// A small frame is charged for the whole block that it reuses. If it were charged only for its own size, one block
    /// after another would grow to the largest frame's size without being counted.
    private func charge(
      of control: FrameControl, for side: DecodeSide, window: DecodeWindow
    ) -> (bytes: Int, spare: FramePixels?) {
      let needed = window.byteCount(of: control)
      let spare = spares.next(
        for: side, needed: needed, room: window.bytes - heldBytes - spares.byteCount)
      return (max(needed, spare?.storage.byteCount ?? 0), spare)
    }
  }
}

/// The memory of drawn frames, kept for reuse.
///
/// Each side of `DecodeAhead` gets back the memory that it filled itself, which is still in the cache of that side's
/// core. Memory filled by the other side would have to be transferred between the cores, cache line by cache line. When
/// both sides shared their memory, a frame took up to 50 % longer, but no performance counter has confirmed the cause.
struct SpareFrames {
  private var consumer: [FramePixels] = []
  private var helper: [FramePixels] = []
  /// The total size of the spare memory in bytes.
  private(set) var byteCount = 0

  /// Returns memory for a frame of `needed` bytes, or nil if new memory should be allocated. Memory that the other side
  /// filled is used only if `room`, the number of bytes that may still be allocated, is less than `needed`.
  func next(for side: DecodeSide, needed: Int, room: Int) -> FramePixels? {
    let (own, other) = side == .consumer ? (consumer, helper) : (helper, consumer)
    return own.last ?? (needed <= room ? nil : other.last)
  }

  /// Removes the memory that ``next(for:needed:room:)`` returned.
  mutating func remove(_ pixels: FramePixels) {
    let removed = pixels.side == .consumer ? consumer.popLast() : helper.popLast()
    byteCount -= removed?.storage.byteCount ?? 0
  }

  mutating func append(_ pixels: FramePixels) {
    byteCount += pixels.storage.byteCount
    if pixels.side == .consumer { consumer.append(pixels) } else { helper.append(pixels) }
  }
}
