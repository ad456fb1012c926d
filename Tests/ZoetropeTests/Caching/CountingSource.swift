import Synchronization
import Zoetrope

/// Bytes in memory that count how often a frame is read, and call `whenRead` each time.
final class CountingSource: ByteSource {
  private let memory: MemorySource
  private let reads = Atomic<Int>(0)
  private let isCounting = Atomic<Bool>(false)
  private let stamp = Mutex<FileStamp?>(nil)
  private let whenRead: @Sendable (Int) throws(AnimatedImageError) -> Void

  init(
    _ bytes: [UInt8],
    whenRead: @escaping @Sendable (_ number: Int) throws(AnimatedImageError) -> Void = { _ in }
  ) {
    memory = MemorySource(bytes)
    self.whenRead = whenRead
  }

  /// Opens an image of these bytes. By default one thread decodes, so that one read is one frame. Opening does not
  /// count.
  func open(parallelism: Int = 1) throws -> AnimatedImage {
    let image = try AnimatedImage(
      source: self, options: DecodingOptions(parallelism: parallelism))
    // So that hashing does not count either.
    _ = try image.contentIdentity { false }
    isCounting.store(true, ordering: .relaxed)
    return image
  }

  /// Frames read so far.
  var count: Int { reads.load(ordering: .relaxed) }

  var byteCount: Int { memory.byteCount }
  var residentByteCount: Int { 0 }

  /// A stamp makes this look like a file. Default: nil.
  var currentStamp: FileStamp? {
    get { stamp.withLock { $0 } }
    set { stamp.withLock { $0 = newValue } }
  }
  var isUnchanged: Bool { true }

  func withBytes<Result>(
    in range: Range<Int>, buffer: inout ReadBuffer,
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    if isCounting.load(ordering: .relaxed) {
      try whenRead(reads.add(1, ordering: .relaxed).newValue)
    }
    return try memory.withBytes(in: range, buffer: &buffer, body)
  }
}
