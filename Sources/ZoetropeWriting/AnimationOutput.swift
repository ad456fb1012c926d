/// Passes the bytes of one file to its sink.
struct AnimationOutput: Sendable {
  private let sink: any AnimationSink
  private var encoder: (any AnimationEncoding)?
  /// The number of frames in the file, or nil if the number is unknown when the first frame is written.
  private let knownCount: Int?
  private let canPatch: Bool
  /// The bytes after the start of the file. They are held back if the start contains the number of frames, the number
  /// is unknown, and the sink cannot be patched. Nil if nothing is held back.
  private var held: [UInt8]?
  private var hasStarted = false
  /// Whether the sink has been finished or abandoned.
  private var isOver = false
  private(set) var frameCount = 0
  private(set) var byteCount = 0

  init(_ sink: any AnimationSink, knownCount: Int?) {
    self.sink = sink
    self.knownCount = knownCount
    canPatch = sink.canPatch
  }

  /// Sets the encoder. Called once, before the first frame.
  mutating func begin(_ encoder: any AnimationEncoding) {
    self.encoder = encoder
    if !canPatch, knownCount == nil, encoder.count(0) != nil { held = [] }
  }

  mutating func write(
    _ coded: CodedFrame, _ job: EncodingQueue.Job
  ) throws(AnimatedImageError) {
    try start(knownCount ?? 1)
    if job.index == nil {
      try PixelMemory.require(coded.bytes.count)
      if let bytes = encoder?.poster(coded) { try put(bytes) }
      return
    }
    frameCount += 1
    if let knownCount, frameCount > knownCount, !canPatch, encoder?.count(0) != nil {
      throw AnimatedImageError(
        .unwritable, "long delays need extra frames, but only \(knownCount) frames were announced")
    }
    // The encoder returns the compressed bytes between others, as a new array.
    try PixelMemory.require(coded.bytes.count)
    let bytes = encoder?.frame(
      coded, rect: job.work.rect, delay: job.delay, disposal: job.disposal)
    if let bytes { try put(bytes) }
  }

  private mutating func start(_ count: Int) throws(AnimatedImageError) {
    guard !hasStarted, held == nil, let encoder else { return }
    hasStarted = true
    try put(encoder.start(frameCount: count))
  }

  private mutating func put(_ bytes: [UInt8]) throws(AnimatedImageError) {
    if held != nil {
      try held?.makeRoom(adding: bytes.count)
      held?.append(contentsOf: bytes)
    } else {
      try sink.makeRoom(for: bytes.count)
      try sink.write(bytes)
      byteCount += bytes.count
    }
  }

  mutating func finish() throws(AnimatedImageError) {
    guard let encoder else { return }
    if let bytes = held {
      held = nil
      try start(frameCount)
      try put(bytes)
    } else if frameCount != knownCount ?? 1, let count = encoder.count(frameCount) {
      try sink.patch(count.bytes, at: count.offset)
    }
    try put(encoder.end)
    isOver = true
    try sink.finish()
  }

  mutating func abandon() {
    held = nil
    if !isOver { sink.abandon() }
    isOver = true
  }
}
