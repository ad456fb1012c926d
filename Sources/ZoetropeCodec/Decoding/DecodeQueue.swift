extension DecodeAhead {
  /// The state under the lock: the frames that are claimed, decoded or held by the consumer. It decides what each side
  /// does next, but uses no threads itself.
  struct Queue {
    /// The state of one frame.
    enum Slot {
      case waiting
      case claimed
      case done(FramePixels)
      case failed(AnimatedImageError)
    }

    /// A frame claimed by one thread, with the memory to decode into.
    struct Claim {
      let index: Int
      let generation: Int
      let pixels: FramePixels
    }

    /// Incremented at each restart. Work begun before the latest restart is discarded.
    var generation = 0
    /// The slots of frame `base` and those after it, in order.
    var slots: [Slot] = []
    /// The bytes charged for each slot.
    var charges: [Int] = []
    var base = 0
    /// The first frame that no thread has begun.
    var nextClaim = 0
    /// The first frame that is not decoded ahead.
    var end = Int.max
    /// Bytes of frames that are claimed or finished, including the one the consumer holds.
    var heldBytes = 0
    /// The part of those bytes that the consumer holds.
    var takenBytes = 0
    var helperCount = 0
    /// The helpers' decoders, kept while there is no work.
    var idleDecoders: [FrameDecoder] = []
    var isConsumerWaiting = false
    /// Whether the consumer is decoding a frame itself. There is room for another frame afterwards.
    var isConsumerDecoding = false
    var spares = SpareFrames()
    var isStopped = false
    /// The bytes charged to `DecodeMemory`.
    var chargedBytes = 0

    /// Bytes of held frames and of spare memory.
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
      // Decode the requested frame if it is unclaimed, or else any other frame instead of idling.
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

    /// Returns whether another frame may be begun. Another reader may still take the memory first.
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

    /// Claims frames in order until they add up to `pixels` pixels. If the window is full, the helper waits while the
    /// consumer is decoding, because the consumer will then take a frame. Otherwise the helper ends.
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

    /// Claims the next frame if decoding it may begin. Charges new memory immediately, so that neither other readers
    /// nor later frames of the same batch claim the same room.
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

    /// Keeps a frame's memory for reuse while the total stays within the window. The total must be bounded because
    /// blocks only grow: a window of many small frames would eventually hold as many blocks of the largest size. Keeps
    /// nothing once all frames to decode ahead have begun, because there may be no further request.
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

    /// Hands the frame at `place` to the consumer and drops all slots up to it.
    private mutating func release(through place: Int) {
      heldBytes -= takenBytes + charges[..<place].reduce(0, +)
      takenBytes = charges[place]
      slots.removeFirst(place + 1)
      charges.removeFirst(place + 1)
      base += place + 1
    }

    /// Returns the bytes to charge for the next claimed frame, and the spare memory it reuses, if any. A small frame is
    /// charged for the whole block it reuses. Otherwise one block after another would grow to the largest frame's size
    /// without being counted.
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
/// Each side of `DecodeAhead` gets back the memory that it filled itself. That memory is still in its core's cache,
/// whereas memory written by the other core would have to be transferred line by line. When both sides shared memory, a
/// frame took up to 50 % longer; no performance counter has confirmed the cause.
struct SpareFrames {
  private var consumer: [FramePixels] = []
  private var helper: [FramePixels] = []
  /// The total size of the spare memory in bytes.
  private(set) var byteCount = 0

  /// Returns memory for a frame of `needed` bytes, or nil if it should be newly allocated. Memory
  /// of the other side is used only if `room` does not suffice.
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
