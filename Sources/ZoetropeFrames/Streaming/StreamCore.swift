internal import Synchronization

/// The state of a stream, which one task feeds with bytes and any number of other tasks read.
///
/// The state is separate from ``StreamedImage`` so that the feeding task does not retain the image. Releasing the image
/// therefore ends that task.
package final class StreamCore: FrameArrivals {
  /// A condition that a task can wait for. The end of the stream meets every condition.
  package enum Goal: Sendable {
    case canvas
    /// The frame with this index has arrived.
    case frame(Int)
    /// Anything has changed since this version of the state.
    case change(from: Int)
    case end
  }

  private struct Waiter {
    let goal: Goal
    let handover: ResultHandover<Bool>
  }

  private struct WeakObserver {
    weak var observer: (any ArrivalObserver)?
  }

  private struct State {
    var file: FileScanner
    var scanner: any Scanning {
      get { file.scanner }
      _modify { yield &file.scanner }
    }
    /// The number of changes to this state so far.
    var version = 0
    /// The number of damage entries that have been checked against ``DamagePolicy/strict``.
    var checkedDamage = 0
    /// The memory that decoding the frames so far needs. Nil before the first frame, and if there is no limit on live
    /// bytes.
    var footprint: DecodeFootprint?
    /// The number of bytes received, including any bytes after the end marker.
    var byteCount = 0
    /// Whether `scanner` has failed or finished. It then gets no more bytes.
    var isClosed = false
    /// Whether the ending has been or is being determined.
    var isSettling = false
    var ending: StreamEnding?
    /// One more than the highest index of a frame that was decoded, or 0 before any frame was decoded.
    var decodedCount = 0
    /// The image of the ended stream, or nil before the end and if the stream has no frame.
    var settled: AnimatedImage?
    var waiters: [Waiter] = []
    var observers: [WeakObserver] = []

    func meets(_ goal: Goal) -> Bool {
      if ending != nil { return true }
      return switch goal {
      // A stream with an empty canvas ends with an error, which meets every goal.
      case .canvas: scanner.isCanvasKnown && scanner.header?.canvasSize.isEmpty == false
      case .frame(let index): index < scanner.frames.count
      case .change(let version): self.version > version
      case .end: false
      }
    }

    /// Removes and returns the waiters whose goals are met.
    mutating func takeReached() -> [ResultHandover<Bool>] {
      // This method runs for each chunk, and nearly always no waiter's goal is met.
      guard waiters.contains(where: { meets($0.goal) }) else { return [] }
      let all = waiters
      waiters = all.filter { !meets($0.goal) }
      return all.filter { meets($0.goal) }.map(\.handover)
    }

    /// Returns the observers of the stream that still exist.
    mutating func livingObservers() -> [any ArrivalObserver] {
      let living = observers.compactMap(\.observer)
      if living.count < observers.count { observers.removeAll { $0.observer == nil } }
      return living
    }
  }

  let options: DecodingOptions
  let received: ReceivedBytes
  private let state: Mutex<State>
  /// The reader that draws the arriving frame. It exists from the first request for a partial frame until the end of
  /// the stream.
  private let partial = Mutex<Lent<PartialReader>?>(nil)

  /// The budget to which the bytes in memory are charged.
  let budget: MemoryBudget
  private let bytesCharge: StreamCharge

  init(options: DecodingOptions, storage: StreamStorage, budget: MemoryBudget = .shared) {
    self.options = options
    self.budget = budget
    bytesCharge = StreamCharge(budget)
    received = ReceivedBytes(
      memoryLimit: storage.memoryByteLimit, byteLimit: storage.byteLimit,
      directory: storage.directory, companion: bytesCharge)
    state = Mutex(State(file: FileScanner(limits: options.limits)))
  }

  /// Refunds the charge for the bytes in memory, and ends charging.
  package func refund() { bytesCharge.refund() }

  /// Raises the charge to the number of bytes in memory, in steps. If the budget is exceeded even after other members
  /// have released memory, bytes that arrive later go to the file.
  private func charge() {
    guard bytesCharge.grow(to: received.residentByteCount) else { return }
    budget.settle()
    if budget.used(for: .images) > budget.limit(for: .images) { received.spillFromNow() }
  }

  // MARK: - Feeding

  /// Stores and scans the next bytes of the stream. Returns whether the file is complete and needs no more bytes.
  func receive(_ bytes: [UInt8]) async throws(AnimatedImageError) -> Bool {
    guard !bytes.isEmpty else { return false }
    // The bytes are stored before they are scanned, so that the bytes of every known frame can be read.
    if received.fitsInMemory(bytes.count) {
      try received.append(bytes[...])
    } else {
      // A write may wait for the disk, so it does not run on the cooperative pool.
      try await DecodeThreads.spilling.result { [received] in
        Result { () throws(AnimatedImageError) in try received.append(bytes[...]) }
      }.get()
    }
    charge()
    // The bytes are scanned in slices, so that no thread waits long for the lock while a large chunk is scanned.
    var isComplete = false
    var start = 0
    while start < bytes.count {
      let end = start + min(Self.sliceSize, bytes.count - start)
      isComplete = try scan(bytes, start..<end)
      start = end
    }
    return isComplete
  }

  private static let sliceSize = 1 << 18

  /// Scans `range` of `bytes`, wakes the waiters whose goals are met, and notifies the observers. Returns whether the
  /// file is complete and needs no more bytes.
  private func scan(_ bytes: [UInt8], _ range: Range<Int>) throws(AnimatedImageError) -> Bool {
    var failure: AnimatedImageError?
    let (isComplete, reached, observers) = state.withLock { state in
      // The stream may have been cancelled while the bytes were stored.
      guard !state.isClosed else {
        return (true, [ResultHandover<Bool>](), [any ArrivalObserver]())
      }
      // If the range lies within pixel data, it changes only the number of bytes. This path keeps small chunks cheap.
      if state.scanner.passOver(range.count) {
        state.byteCount += range.count
        state.version += 1
        return (false, state.takeReached(), [])
      }
      let frameCount = state.scanner.frames.count
      let playCount = state.scanner.playCount
      do throws(AnimatedImageError) {
        try feed(bytes, range, to: &state)
      } catch {
        failure = error
        state.isClosed = true
      }
      state.byteCount += range.count
      state.version += 1
      let grew =
        state.scanner.frames.count > frameCount
        || frameCount > 0 && state.scanner.playCount != playCount
      return (state.scanner.isComplete, state.takeReached(), grew ? state.livingObservers() : [])
    }
    for handover in reached { handover.close(with: true) }
    for observer in observers { observer.framesArrived() }
    if let failure { throw failure }
    return isComplete
  }

  private func feed(
    _ bytes: [UInt8], _ range: Range<Int>, to state: inout State
  ) throws(AnimatedImageError) {
    let known = state.scanner.frames.count
    var failure: AnimatedImageError?
    do throws(AnimatedImageError) {
      try state.file.feed(bytes.rawBytes.extracting(range))
    } catch {
      failure = error
    }
    try admitFrames(from: known, in: &state)
    if let failure { throw failure }
    guard options.damage == .strict else { return }
    let damage = state.scanner.damage.dropFirst(state.checkedDamage)
    state.checkedDamage += damage.count
    if let first = damage.first(where: { $0.kind.isRefusedByStrict }) {
      throw first.error(format: state.scanner.header?.format)
    }
  }

  /// Checks the frames from index `known` on. At the first frame with which decoding would exceed the memory limit,
  /// drops that frame and all later frames and throws. Also throws if the canvas is empty, and then drops all frames
  /// from index `known` on.
  private func admitFrames(
    from known: Int, in state: inout State
  ) throws(AnimatedImageError) {
    guard state.scanner.isCanvasKnown, let header = state.scanner.header else { return }
    if header.canvasSize.isEmpty {
      state.scanner.keepFrames(known)
      throw AnimatedImage.emptyCanvas(header)
    }
    guard options.limits.liveBytes < .max, state.scanner.frames.count > known else { return }
    var footprint =
      state.footprint ?? DecodeFootprint(EmptyCollection(), header: header, options: options)
    for control in state.scanner.frames[known...] {
      footprint.add(control)
      do throws(AnimatedImageError) {
        try footprint.check()
      } catch {
        state.scanner.keepFrames(control.index)
        throw error
      }
    }
    state.footprint = footprint
  }

  /// Ends the stream and determines its ending. This method blocks while a truncated last frame is decoded. A
  /// cancellation ends the stream even while another thread decodes that frame, which is then dropped.
  ///
  /// - Parameters:
  ///   - reason: The reason why the stream ended, or nil if its producer ended normally.
  ///   - open: Opens the image, for which it decodes a truncated last frame. Tests replace it.
  func settle(
    _ reason: StreamEnding?,
    opening open: (ScannedImage, ReceivedSource, DecodingOptions) throws(AnimatedImageError)
      -> AnimatedImage = { (scan, source, options) throws(AnimatedImageError) in
        try AnimatedImage(scan, source: source, options: options)
      }
  ) {
    // The scan is finished under the lock, but a truncated frame is decoded without the lock.
    let (scan, hasEndMarker, failure) = state.withLock {
      state -> (ScannedImage?, Bool, AnimatedImageError?) in
      guard state.ending == nil, !state.isSettling || reason == .cancelled else {
        return (nil, false, nil)
      }
      state.isSettling = true
      let hasEndMarker = state.scanner.hasEndMarker
      defer { state.isClosed = true }
      guard !state.isClosed, reason != .cancelled else {
        return (state.scanner.image, hasEndMarker, nil)
      }
      do throws(AnimatedImageError) {
        // The scanner is copied, so that the frames visible to others do not change until the ending has been
        // determined.
        var file = state.file
        try file.finish()
        return (file.scanner.image, hasEndMarker, nil)
      } catch {
        return (state.scanner.image, hasEndMarker, error)
      }
    }
    guard let scan else { return }
    let source = ReceivedSource(received, limit: scan.byteCount)
    var ending = reason ?? (hasEndMarker ? .complete : .truncated)
    var settled: AnimatedImage?
    if let failure {
      if reason == nil { ending = .failed(failure) }
    } else if ending != .cancelled, ![.limitExceeded, .outOfMemory].contains(ending.error?.code) {
      do throws(AnimatedImageError) {
        settled = try open(scan, source, options)
      } catch {
        if reason == nil { ending = .failed(error) }
      }
    }
    close(ending, settled ?? arrived(scan, source))
  }

  private func close(_ ending: StreamEnding, _ settled: AnimatedImage?) {
    let (reached, observers) = state.withLock {
      state -> ([ResultHandover<Bool>], [any ArrivalObserver]) in
      // The stream may have been cancelled while a truncated frame was decoded.
      guard state.ending == nil else { return ([], []) }
      state.ending = ending
      state.settled = settled
      state.version += 1
      return (state.takeReached(), state.livingObservers())
    }
    // The reader is removed after the ending is set, so that no second reader is created.
    let drawing = partial.withLock { $0.take() }
    _ = consume drawing
    for handover in reached { handover.close(with: true) }
    for observer in observers { observer.framesArrived() }
  }

  /// Returns the image that consists of the complete frames of `scan`, or nil if there are none.
  private func arrived(_ scan: ScannedImage, _ source: ReceivedSource) -> AnimatedImage? {
    guard let header = scan.header, !scan.frames.isEmpty, !header.canvasSize.isEmpty else {
      return nil
    }
    return AnimatedImage(arrived: scan, header: header, source: source, options: options)
  }

  // MARK: - Looking

  /// The image that consists of the frames that have arrived, or nil if no frame has arrived.
  var image: AnimatedImage? {
    state.withLock { state in
      if state.ending != nil { return state.settled }
      let scan = state.scanner.image
      return arrived(scan, ReceivedSource(received, limit: scan.byteCount))
    }
  }

  /// The image of the ended stream, or nil before the end and if the stream has no frame.
  package var settled: AnimatedImage? { state.withLock { $0.settled } }

  package var ending: StreamEnding? { state.withLock { $0.ending } }

  package var header: ImageHeader? { state.withLock { $0.settled?.header ?? $0.scanner.header } }

  var playCount: PlayCount { state.withLock { $0.settled?.playCount ?? $0.scanner.playCount } }

  var frames: [FrameControl] { state.withLock { $0.settled?.frames ?? $0.scanner.frames } }

  var frameCount: Int {
    state.withLock { $0.settled?.frames.count ?? $0.scanner.frames.count }
  }

  package func frame(_ index: Int) -> FrameControl {
    state.withLock { $0.settled?.frames[index] ?? $0.scanner.frames[index] }
  }

  package func arrival(after known: Int) -> FrameArrival {
    state.withLock { state in
      FrameArrival(
        frames: Array((state.settled?.frames ?? state.scanner.frames).dropFirst(known)),
        playCount: state.settled?.playCount ?? state.scanner.playCount,
        isOpen: state.ending == nil, error: state.ending?.error)
    }
  }

  /// Returns the arriving frame, with the range of the bytes scanned so far, and the header of the image. Returns nil
  /// between frames and after the end of the stream.
  ///
  /// - Throws: `limitExceeded` if decoding the frame would exceed the limit on live bytes.
  func arrivingFrame() throws(AnimatedImageError) -> (FrameControl, ImageHeader)? {
    try state.withLock { (state) throws(AnimatedImageError) in
      guard !state.isClosed, !state.isSettling, state.scanner.isCanvasKnown,
        let header = state.scanner.header, !header.canvasSize.isEmpty,
        let control = state.scanner.arrivingFrame
      else { return nil }
      if options.limits.liveBytes < .max {
        var footprint =
          state.footprint ?? DecodeFootprint(EmptyCollection(), header: header, options: options)
        footprint.add(control)
        try footprint.check()
      }
      return (control, header)
    }
  }

  /// Returns the reader that draws the arriving frame, or nil after the end of the stream.
  func partialReader() -> Lent<PartialReader>? {
    partial.withLock { partial in
      guard ending == nil else { return nil }
      let reader = partial ?? Lent(PartialReader(self))
      partial = reader
      return reader
    }
  }

  /// Records that frame `index` was decoded, which may change the progress of the stream.
  func noteDecoded(_ index: Int) {
    let reached = state.withLock { state in
      guard index >= state.decodedCount else { return [ResultHandover<Bool>]() }
      state.decodedCount = index + 1
      state.version += 1
      return state.takeReached()
    }
    for handover in reached { handover.close(with: true) }
  }

  var versionedProgress: (StreamProgress, Int) {
    state.withLock { state in
      let progress = StreamProgress(
        byteCount: state.byteCount,
        frameCount: state.settled?.frames.count ?? state.scanner.frames.count,
        decodedFrameCount: state.decodedCount,
        announcedFrameCount: state.scanner.announcedFrames, ending: state.ending)
      return (progress, state.version)
    }
  }

  /// Waits until `goal` is met or the stream ends. Returns false if the calling task is cancelled first.
  package func reach(_ goal: Goal) async -> Bool {
    let handover = ResultHandover<Bool>()
    let isReached = state.withLock { state in
      if state.meets(goal) { return true }
      state.waiters.append(Waiter(goal: goal, handover: handover))
      return false
    }
    if isReached { return true }
    return await handover.valueUnlessCancelled {
      state.withLock { $0.waiters.removeAll { $0.handover === handover } }
    } ?? false
  }

  package func waitForFrame(_ index: Int) async -> Bool { await reach(.frame(index)) }

  package func add(_ observer: any ArrivalObserver) {
    // The others are returned, so that one whose last reference is lost meanwhile is not released under the lock.
    _ = state.withLock { state -> [any ArrivalObserver] in
      // A stream that has ended makes no more calls, so it does not store the observer.
      guard state.ending == nil else { return [] }
      let others = state.livingObservers()
      state.observers.append(WeakObserver(observer: observer))
      return others
    }
  }
}
