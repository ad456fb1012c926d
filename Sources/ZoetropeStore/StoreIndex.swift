internal import SystemPackage

/// The records that a store keeps about files. Records contain no pixels. Each record is one small file, whose name is
/// a hash of the stamp of the file that the record describes.
///
/// A file that has been modified has another stamp, so its old record is not found. The name of a record also depends
/// on ``version``. Each record contains a checksum that is keyed with the store's secret.
struct StoreIndex: Sendable {
  /// The version of the records. Increment it if the layout of records changes, or if a scanner's result for any file
  /// changes. `CacheVersionTests` fails until you do.
  static let version = 1
  /// The limits on all records: their number and, in the next constant, their total bytes.
  private static let maximumCount = 4096
  private static let maximumBytes = 32 << 20
  /// The maximum number of bytes of one record. A larger record is not stored, because reading it would take as long as
  /// scanning the file.
  private static let maximumRecordBytes = 8 << 20

  let directory: FilePath
  let secret: HashSecret
  /// Whether the index is read-only, so that nothing is written to it.
  var isReadOnly = false

  enum Subject: Int {
    case identity = 1
    case structure
  }

  /// Returns the record about the file with this stamp, or nil if there is no intact record.
  ///
  /// - Parameter conditions: Everything that the record depends on besides the file's bytes.
  func read(_ subject: Subject, of stamp: FileStamp, conditions: [Int] = []) -> RecordReader? {
    let (name, _) = name(subject, stamp, conditions)
    guard let file = (try? TableFile.open(directory.appending(name), readOnly: true)) ?? nil,
      let count = try? file.status.byteCount, (16...Self.maximumRecordBytes).contains(count),
      let bytes = try? file.read(count, at: 0), bytes.count == count
    else { return nil }
    let content = Array(bytes.dropLast(16))
    guard Array(bytes.suffix(16)) == checksum(content, name) else { return nil }
    return RecordReader(content)
  }

  /// Stores a record about the file with this stamp, replacing the previous record.
  func write(
    _ subject: Subject, of stamp: FileStamp, conditions: [Int] = [],
    _ body: (inout RecordWriter) -> Void
  ) throws(AnimatedImageError) {
    var writer = RecordWriter()
    body(&writer)
    guard writer.bytes.count <= Self.maximumRecordBytes - 16, !isReadOnly else { return }
    guard try TableDirectory.make(directory) else { return }
    let (name, hash) = name(subject, stamp, conditions)
    let record = writer.bytes + checksum(writer.bytes, name)
    try TableDirectory.create(directory.appending(name), replacing: true) {
      (file) throws(AnimatedImageError) in try file.write(record.rawBytes, at: 0)
    }
    // Prune after one write in 64, because listing the directory on every write would take longer than the records
    // save. Always prune after a large record, because 64 large records would far exceed the limit.
    if hash.low % 64 == 0 || writer.bytes.count > 256 << 10 { prune() }
  }

  /// Removes the oldest records until the limits are met.
  func prune(to byteLimit: Int = maximumBytes) {
    let files = records().sorted { $0.status.modified > $1.status.modified }
    var bytes = 0
    for (place, file) in files.enumerated() {
      bytes += file.status.allocatedBytes
      if place >= Self.maximumCount || bytes > byteLimit {
        FileSystem.remove(directory.appending(file.name))
      }
    }
  }

  /// Returns all records, and files that killed writers left behind. Files of other programs are not included.
  func records() -> [(name: String, status: FileStatus)] {
    TableDirectory.files(in: directory).filter { StoreFiles.isRecord($0.name) }
  }

  private func name(
    _ subject: Subject, _ stamp: FileStamp, _ conditions: [Int]
  ) -> (name: String, hash: ContentIdentity) {
    let numbers =
      [
        Self.version, subject.rawValue, Int(truncatingIfNeeded: stamp.device),
        Int(truncatingIfNeeded: stamp.inode), stamp.byteCount, Int(stamp.modified),
        Int(stamp.changed),
      ] + conditions
    let hash = secret.hash128(numbers.rawBytes)
    return ("\(hash)", hash)
  }

  private func checksum(_ bytes: [UInt8], _ name: String) -> [UInt8] {
    let hash = secret.hash128((bytes + Array(name.utf8)).rawBytes)
    return Array("\(hash)".utf8.prefix(16))
  }
}

extension FrameStore {
  /// Opens the file at `path`. The file is not scanned if the result of an earlier scan is recorded in this store.
  package func open(
    _ path: FilePath, options: DecodingOptions, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> AnimatedImage {
    try open(
      AnimatedImage.source(at: path, options: options, isCancelled: isCancelled), options: options,
      isCancelled: isCancelled)
  }

  /// Opens `source`. The source is not scanned if it is a file and the result of an earlier scan is recorded in this
  /// store.
  func open(
    _ source: any ByteSource, options: DecodingOptions, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> AnimatedImage {
    // A scan checks this too, but whether opening fails must not depend on what is recorded.
    if isCancelled() { throw AnimatedImageError(.cancelled, "stopped while opening the image") }
    let stamp = source.currentStamp
    let now = FileStamp.now()
    let conditions = options.scanConditions
    if let stamp, stamp.isSettled(at: now),
      var record = index.read(.structure, of: stamp, conditions: conditions),
      let scan = record.image(), let header = scan.header, source.isUnchanged
    {
      try scan.checkLiveBytes(header: header, options: options)
      return try AnimatedImage(
        settled: scan, scannedAs: header.format, source: source, options: options)
    }
    let image = try AnimatedImage(source: source, options: options, isCancelled: isCancelled)
    if let stamp, stamp.isSettled(at: now), source.isUnchanged, source.currentStamp == stamp {
      do throws(AnimatedImageError) {
        try index.write(.structure, of: stamp, conditions: conditions) { $0.put(image) }
      } catch { note(error) }
    }
    return image
  }

  /// Returns the key of the file's frames if the file was opened and hashed through this store and has not changed
  /// since then, and nil otherwise. Only the records are read, not the file.
  package func knownKey(
    ofFileAt path: FilePath, rendering: Rendering, options: DecodingOptions
  ) -> AnimationKey? {
    let index = index
    guard let stamp = FileStamp(at: path), stamp.isSettled(at: FileStamp.now()),
      var record = index.read(.identity, of: stamp), let identity = record.identity(),
      var structure = index.read(.structure, of: stamp, conditions: options.scanConditions),
      let header = structure.image()?.header
    else { return nil }
    let rendition = Rendition(rendering, of: header.canvasSize, options: options)
    return AnimationKey(content: identity, rendition: rendition)
  }

  /// Like ``identity(of:)``, but throws `cancelled` once `isCancelled` returns true.
  public func identity(
    of image: AnimatedImage, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity {
    let index = index
    let stamp = image.source.currentStamp
    // The identity is also kept in memory, because a read-only store, or one whose disk is full, cannot record it.
    if let known = image.state.storedIdentity, known.secret === index.secret,
      known.stamp == stamp, image.source.isUnchanged
    {
      return known.identity
    }
    // A file that has just changed is hashed each time; see ``FileStamp/isSettled(at:)``. Another write could leave the
    // stamp of the file unchanged, and frames of the new bytes would then be stored under the old identity.
    let isSettled = stamp?.isSettled(at: FileStamp.now()) ?? true
    if let stamp, isSettled, image.source.isUnchanged,
      var record = index.read(.identity, of: stamp), let identity = record.identity()
    {
      image.state.storedIdentity = (index.secret, stamp, identity)
      return identity
    }
    let identity = try image.identity(keyedWith: index.secret, isCancelled: isCancelled)
    guard isSettled, image.source.currentStamp == stamp else { return identity }
    image.state.storedIdentity = (index.secret, stamp, identity)
    if let stamp {
      do throws(AnimatedImageError) {
        try index.write(.identity, of: stamp) {
          $0.put(identity.high)
          $0.put(identity.low)
        }
      } catch { note(error) }
    }
    return identity
  }
}

extension RecordReader {
  /// Returns the identity that the record contains, or nil if the record is incomplete.
  fileprivate mutating func identity() -> ContentIdentity? {
    let identity = ContentIdentity(high: number(UInt64.self), low: number(UInt64.self))
    return isComplete ? identity : nil
  }
}

extension AnimatedImage {
  /// Opens the file at `path`. If its device, inode, size and times are the same as when it was last opened through
  /// `store`, the file is not scanned.
  ///
  /// - Throws: The errors of `AnimatedImage(contentsOf:options:)`, among them `cancelled` if the task is cancelled,
  ///   whether or not the file is known. If the store cannot be used, the file is scanned.
  public init(
    contentsOf path: some FilePathConvertible, options: DecodingOptions = .init(),
    knownTo store: FrameStore
  ) throws(AnimatedImageError) {
    self = try store.open(path.filePath, options: options) { Task.isCancelled }
  }

  /// Opens the file at `path` on one of the library's threads. See ``init(contentsOf:options:knownTo:)``.
  ///
  /// Throws ``AnimatedImageError/Code/cancelled`` as soon as the calling task is cancelled, which also ends the scan of
  /// the file.
  public static func open(
    _ path: some FilePathConvertible, options: DecodingOptions = .init(), knownTo store: FrameStore
  ) async throws(AnimatedImageError) -> AnimatedImage {
    let path = path.filePath
    return try await opened(reading: path) { (flag) throws(AnimatedImageError) in
      try store.open(path, options: options) { flag.isRaised }
    }
  }

  /// Like ``init(contentsOf:options:knownTo:)``, for a file that the caller has opened. `isCancelled` takes the place of
  /// the check for cancellation of the task.
  package init(
    source: any ByteSource, options: DecodingOptions, knownTo store: FrameStore,
    isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) {
    self = try store.open(source, options: options, isCancelled: isCancelled)
  }
}

extension DecodingOptions {
  /// The values of all options that affect the result of opening a file.
  fileprivate var scanConditions: [Int] {
    [
      Int(damage.code), limits.canvasPixels, limits.frameCount, limits.liveBytes,
      limits.pixelsPerPlay, limits.metadataBytes, limits.metadataTotalBytes, limits.metadataCount,
    ]
  }
}
