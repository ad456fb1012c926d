internal import Glibc
internal import Synchronization

/// Decodes the frames of one image on several threads and delivers them in order.
///
/// The consumer's thread decodes too. If no other thread has begun the frame that the consumer needs, the consumer's
/// thread decodes that frame. Otherwise it decodes a later frame instead of waiting. One helper thread is therefore
/// enough to keep two cores busy, and without helpers decoding is single-threaded. A byte budget limits how many
/// decoded frames wait. Small frames are claimed in batches, because handing one frame over to another thread costs as
/// much as decoding a thousand pixels.
package final class DecodeAhead: Sendable {
  let source: any ByteSource
  let frames: [FrameControl]
  let header: ImageHeader
  let options: DecodingOptions
  private let helperLimit: Int
  /// The size, in bytes, of the frame blocks that become the canvas, or 0 if all frames are drawn onto the canvas.
  package let canvasByteCount: Int
  private let state: Mutex<Queue>
  private let signal = ThreadSignal()

  /// The number of pixels at which a batch of frames is large enough to be handed over to another thread.
  private static let batchPixels = 1 << 15
  /// The number of times that a thread polls before it sleeps, if it expects to wait no longer than one frame takes to
  /// decode. The thread yields between polls. All polls together take tens of microseconds, about as long as falling
  /// asleep and being woken.
  private static let looks = 128

  /// Creates a decoder of `frames`. Decoding starts with the first request.
  ///
  /// - Parameters:
  ///   - helperLimit: The maximum number of threads that decode, not counting the consumer's thread.
  ///   - memory: The budget that frames are charged to.
  package init(
    _ frames: [FrameControl], header: ImageHeader, source: any ByteSource,
    options: DecodingOptions, helperLimit: Int, memory: DecodeMemory
  ) {
    self.source = source
    self.frames = frames
    self.header = header
    self.options = options
    let window = DecodeWindow(frames, header: header, options: options)
    self.helperLimit = min(helperLimit, window.helperLimit)
    canvasByteCount = window.form?.byteCount ?? 0
    state = Mutex(Queue(frames, window: window, memory: memory))
  }

  deinit { state.withLock { $0.memory.charge(-$0.chargedBytes) } }

  /// Calls `body` with the state, then charges the change of the state's byte count to the memory budget.
  private func change<Value>(_ body: (inout sending Queue) -> sending Value) -> sending Value {
    state.withLock { state in
      let value = body(&state)
      state.memory.charge(state.byteCount - state.chargedBytes)
      state.chargedBytes = state.byteCount
      return value
    }
  }

  /// Restarts decoding at frame `index`, and discards all earlier work.
  package func restart(at index: Int) {
    change { state in
      state.generation += 1
      state.heldBytes = 0
      state.takenBytes = 0
      for case .done(let pixels) in state.slots { state.keep(pixels) }
      state.slots.removeAll(keepingCapacity: true)
      state.charges.removeAll(keepingCapacity: true)
      state.base = index
      state.nextClaim = index
      state.isConsumerDecoding = false
    }
  }

  /// Limits decoding ahead to the frames up to `last`; later frames are decoded only when they are requested. Nil lifts
  /// the limit.
  package func limit(to last: Int?) {
    state.withLock { $0.end = last.map { $0 + 1 } ?? .max }
  }

  /// Stops all work. Helpers finish the frames that they have claimed, and return.
  package func stop() {
    change { state in
      state.heldBytes = 0
      state.takenBytes = 0
      state.dropSpares()
      state.isStopped = true
      state.generation += 1
      state.slots = []
      state.charges = []
    }
  }

  /// Returns the pixels of frame `index`. Frames must be taken in order, starting where decoding started or restarted.
  ///
  /// - Parameter decoder: The decoder of the consumer's thread, for the frames that this thread decodes.
  package func take(_ index: Int, with decoder: inout FrameDecoder) throws(AnimatedImageError)
    -> FramePixels
  {
    while true {
      startHelpers()
      switch change({ $0.step(for: index) }) {
      case .ready(let pixels): return pixels
      case .failed(let error): throw error
      case .decode(let claim): decode(claim, with: &decoder)
      case .wait: signal.wait(looks: Self.looks)
      }
    }
  }

  /// Recycles the memory of a frame that has been drawn.
  package func recycle(_ pixels: FramePixels) {
    change { $0.takeBack(pixels) }
  }

  /// Starts as many helpers as the work and the limit allow.
  private func startHelpers() {
    let count = state.withLock { state in
      guard !state.isStopped, state.canClaim else { return 0 }
      let count = max(helperLimit - state.helperCount, 0)
      state.helperCount += count
      return count
    }
    for _ in 0..<count { DecodeThreads.shared.run(isOptional: true) { [self] in help() } }
  }

  /// Runs a helper's loop, which decodes batches of frames until the window is full.
  private func help() {
    var decoder =
      state.withLock { $0.idleDecoders.popLast() } ?? FrameDecoder(header: header, options: options)
    var patience = Self.looks
    while true {
      let step = change { state in
        state.helperStep(pixels: Self.batchPixels, mayWait: patience > 0)
      }
      switch step {
      case .decode(let claims):
        for claim in claims { decode(claim, with: &decoder) }
        patience = Self.looks
      case .wait:
        sched_yield()
        patience -= 1
      case .end:
        return state.withLock { $0.idleDecoders.append(decoder) }
      }
    }
  }

  /// Decodes a claimed frame, stores the result in the frame's slot, and wakes the consumer if the consumer is waiting.
  private func decode(_ claim: Queue.Claim, with decoder: inout FrameDecoder) {
    let result = Result { () throws(AnimatedImageError) in
      try decoder.decode(frames[claim.index], from: source, into: claim.pixels)
    }
    let wakes = change { $0.finish(claim, result) }
    if wakes { signal.post() }
  }
}
