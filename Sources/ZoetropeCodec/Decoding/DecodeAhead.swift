internal import Glibc
internal import Synchronization

/// Decodes the frames of one image on several threads and delivers them in order.
///
/// The consumer takes part: it decodes the frame it needs if no other thread has begun it, and decodes later frames
/// instead of waiting. One helper is therefore enough to keep two cores busy, and without helpers decoding is
/// single-threaded. The number of decoded frames that wait is limited by a byte budget. Small frames are claimed in
/// batches, because handing a frame over costs as much as decoding a thousand pixels.
package final class DecodeAhead: Sendable {
  let source: any ByteSource
  let frames: [FrameControl]
  let header: ImageHeader
  let options: DecodingOptions
  private let helperLimit: Int
  private let window: DecodeWindow
  private let memory: DecodeMemory
  private let state = Mutex(Queue())
  private let signal = ThreadSignal()

  /// The number of pixels that is worth handing over to another thread.
  private static let batchPixels = 1 << 15
  /// The number of times that a waiting thread polls before it sleeps, if it expects the event within a frame's decode
  /// time. It yields between polls. In total this takes tens of microseconds, about as long as sleeping and waking.
  private static let looks = 128

  /// Creates a decoder of `frames`. Decoding starts with the first request.
  ///
  /// - Parameters:
  ///   - helperLimit: The maximum number of threads that decode besides the consumer's.
  ///   - memory: The budget that frames are charged to.
  package init(
    _ frames: [FrameControl], header: ImageHeader, source: any ByteSource,
    options: DecodingOptions, helperLimit: Int, memory: DecodeMemory
  ) {
    self.source = source
    self.frames = frames
    self.header = header
    self.options = options
    self.memory = memory
    window = DecodeWindow(frames, header: header, options: options)
    self.helperLimit = min(helperLimit, window.helperLimit)
  }

  deinit { memory.charge(-state.withLock { $0.chargedBytes }) }

  /// Changes the state, then updates the memory charge.
  private func change<Value>(_ body: (inout sending Queue) -> sending Value) -> sending Value {
    state.withLock { state in
      let value = body(&state)
      memory.charge(state.byteCount - state.chargedBytes)
      state.chargedBytes = state.byteCount
      return value
    }
  }

  /// The size of a block that becomes the canvas, or 0 if frames are drawn onto the canvas.
  package var canvasByteCount: Int { window.form?.byteCount ?? 0 }

  /// Restarts at frame `index`.
  package func restart(at index: Int) {
    change { state in
      state.generation += 1
      state.heldBytes = 0
      state.takenBytes = 0
      for case .done(let pixels) in state.slots {
        state.keep(pixels, window: window, memory: memory)
      }
      state.slots.removeAll(keepingCapacity: true)
      state.charges.removeAll(keepingCapacity: true)
      state.base = index
      state.nextClaim = index
      state.isConsumerDecoding = false
    }
  }

  /// Stops decoding ahead past frame `last`. Later frames are decoded only when requested. Nil lifts the limit.
  package func limit(to last: Int?) {
    state.withLock { $0.end = last.map { $0 + 1 } ?? .max }
  }

  /// Stops all work. Helpers finish their current frame and return.
  package func stop() {
    change { state in
      state.heldBytes = 0
      state.takenBytes = 0
      state.spares = SpareFrames()
      state.isStopped = true
      state.generation += 1
      state.slots = []
      state.charges = []
    }
  }

  /// Returns frame `index`, decoded. Frames must be taken in order, starting where decoding started.
  ///
  /// - Parameter decoder: The consumer's own decoder, for the frames it decodes itself.
  package func take(_ index: Int, with decoder: inout FrameDecoder) throws(AnimatedImageError)
    -> FramePixels
  {
    while true {
      startHelpers()
      switch change({
        $0.step(for: index, frames: frames, window: window, memory: memory)
      }) {
      case .ready(let pixels): return pixels
      case .failed(let error): throw error
      case .decode(let claim): decode(claim, with: &decoder)
      case .wait: signal.wait(looks: Self.looks)
      }
    }
  }

  /// Recycles the memory of a frame that has been drawn.
  package func recycle(_ pixels: FramePixels) {
    change { $0.takeBack(pixels, window: window, memory: memory) }
  }

  /// Starts as many helpers as the work and the limit allow.
  private func startHelpers() {
    let count = state.withLock { state in
      guard !state.isStopped,
        state.canClaim(for: .helper, frames: frames, window: window, memory: memory)
      else { return 0 }
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
        state.helperStep(
          frames: frames, window: window, memory: memory, pixels: Self.batchPixels,
          mayWait: patience > 0)
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

  /// Decodes a claimed frame, stores it in its slot and wakes the consumer if it is waiting.
  private func decode(_ claim: Queue.Claim, with decoder: inout FrameDecoder) {
    let result = Result { () throws(AnimatedImageError) in
      try decoder.decode(frames[claim.index], from: source, into: claim.pixels)
    }
    let wakes = change { $0.finish(claim, result, window: window, memory: memory) }
    if wakes { signal.post() }
  }
}
