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

    let frames: [FrameControl]
    let window: DecodeWindow
    /// The budget that frames are charged to.
    let memory: DecodeMemory
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
    /// The memory of frames that were drawn, kept for reuse. The last block is probably still in a CPU cache.
    private var spares: [FramePixels] = []
    private var spareBytes = 0
    var isStopped = false
    /// The number of bytes charged to `DecodeMemory`.
    var chargedBytes = 0

    init(_ frames: [FrameControl], window: DecodeWindow, memory: DecodeMemory) {
      (self.frames, self.window, self.memory) = (frames, window, memory)
    }

    /// The number of bytes of held frames and spare memory together.
    var byteCount: Int { heldBytes + spareBytes }

    /// The consumer's next step.
    enum Step {
      case ready(FramePixels)
      case failed(AnimatedImageError)
      case decode(Claim)
      case wait
    }

    /// Decides the next step of the consumer, which needs frame `index`.
    mutating func step(for index: Int) -> Step {
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
      guard let claim = nextClaim <= index ? claim() : claimAhead() else {
        isConsumerWaiting = true
        return .wait
      }
      isConsumerDecoding = true
      return .decode(claim)
    }

    /// Whether the next frame may be claimed: whether there is another frame, and room for it in the window and
    /// in the memory that all readers share. Another reader may take this memory before the frame is claimed.
    var canClaim: Bool {
      guard nextClaim < min(frames.count, end), nextClaim - base < window.frames else {
        return false
      }
      let (charge, spare) = charge(of: frames[nextClaim])
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
    mutating func helperStep(pixels: Int, mayWait: Bool) -> HelperStep {
      var claims: [Claim] = []
      var sum = 0
      while !isStopped, sum < pixels, let claim = claimAhead() {
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
    private mutating func claimAhead() -> Claim? {
      guard canClaim else { return nil }
      let (charge, spare) = charge(of: frames[nextClaim])
      if spare == nil {
        if heldBytes == 0 {
          memory.charge(charge)
        } else if !memory.reserve(charge) {
          return nil
        }
        chargedBytes += charge
      }
      return claim()
    }

    private mutating func claim() -> Claim {
      let index = nextClaim
      while slots.count <= index - base {
        slots.append(.waiting)
        charges.append(0)
      }
      slots[index - base] = .claimed
      nextClaim += 1
      let (bytes, spare) = charge(of: frames[index])
      charges[index - base] = bytes
      heldBytes += bytes
      if let spare {
        spares.removeLast()
        spareBytes -= spare.storage.byteCount
      }
      let pixels = spare ?? FramePixels(largestByteCount: window.largestByteCount)
      pixels.inPlaceLayout = window.form(of: frames[index])
      return Claim(index: index, generation: generation, pixels: pixels)
    }

    /// Stores the result of a claimed frame and returns whether to wake the consumer.
    mutating func finish(_ claim: Claim, _ result: Result<Void, AnimatedImageError>) -> Bool {
      guard claim.generation == generation, !isStopped else {
        keep(claim.pixels)
        return false
      }
      let place = claim.index - base
      switch result {
      case .success: slots[place] = .done(claim.pixels)
      case .failure(let error): slots[place] = .failed(error)
      }
      // Frames that libpng decoded, because they are damaged, take four bytes for each pixel, also where one byte was
      // charged.
      let surplus = max(claim.pixels.storage.byteCount - charges[place], 0)
      charges[place] += surplus
      heldBytes += surplus
      defer { isConsumerWaiting = false }
      return isConsumerWaiting
    }

    /// Keeps a frame's memory for reuse if the held frames and the spare memory together stay within the window.
    ///
    /// The total must be bounded because blocks only grow: without a bound, the blocks of many small frames would all
    /// eventually grow to the size of the largest frame. Nothing is kept once all frames to be decoded ahead have been
    /// claimed, because there may be no further request.
    mutating func keep(_ pixels: FramePixels) {
      guard !isStopped, nextClaim < end, memory.admits(0) else { return dropSpares() }
      let bytes = pixels.storage.byteCount
      guard byteCount + bytes <= window.bytes else { return }
      spares.append(pixels)
      spareBytes += bytes
    }

    /// Frees the spare memory.
    mutating func dropSpares() {
      spares = []
      spareBytes = 0
    }

    /// Takes back the memory of the frame that the consumer holds.
    mutating func takeBack(_ pixels: FramePixels) {
      heldBytes -= takenBytes
      takenBytes = 0
      isConsumerDecoding = false
      keep(pixels)
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
    private func charge(of control: FrameControl) -> (bytes: Int, spare: FramePixels?) {
      let spare = spares.last
      return (max(window.byteCount(of: control), spare?.storage.byteCount ?? 0), spare)
    }
  }
}
