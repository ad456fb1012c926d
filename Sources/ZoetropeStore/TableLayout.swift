/// The properties that all frames in one table share: their pixel format and size, or their ``FrameFormat``.
package struct TableShape: Sendable, Hashable {
  /// The size of every frame, or in the table of a ``FrameFormat``, the size of the largest possible frame.
  package let size: PixelSize
  package let format: PixelFormat
  /// The table's name, or nil if this is not the table of a ``FrameFormat``.
  package let name: TableName?

  package init(size: PixelSize, format: PixelFormat, name: TableName? = nil) {
    self.size = size
    self.format = format
    self.name = name
  }

  /// Returns whether a frame of `size` fits in a slot.
  func holds(_ size: PixelSize) -> Bool {
    if name == nil { return size == self.size }
    return !size.isEmpty && size.width <= self.size.width && size.height <= self.size.height
  }

  package var bytesPerRow: Int { format.bytesPerRow(width: size.width) }
  /// The number of bytes that the pixels of a frame of ``size`` take, or 0 if the size is empty or too large.
  package var frameBytes: Int {
    let (bytes, overflow) = bytesPerRow.multipliedReportingOverflow(by: max(size.height, 0))
    return overflow || size.isEmpty ? 0 : bytes
  }
}

/// The layout of a table's file, and the header that describes it.
///
/// The file consists of a header page, the time of last use of each slot, an entry of 256 bytes per slot, and the
/// pixels of each slot, which are page-aligned. The header is written before the file gets its name and never changes.
/// Numbers are in native byte order; a header in the other byte order is invalid.
///
/// A slot whose time of last use is 0 takes no disk space, and its entry may be in a hole of the file. A hole must not
/// be read through a mapping, because the read fails if the disk is full. There are slots for up to twice as many bytes
/// as the store's limit allows, so that the frames of one table can fill the store although its sets of slots fill
/// unevenly.
struct TableLayout: Sendable, Hashable {
  /// The version of tables. Increment it if the layout of tables or the key of frames changes. `CacheVersionTests`
  /// fails until you do.
  static let version: UInt64 = 5
  /// The version of the pixels in tables. Increment it if decoding, compositing, scaling or conversion gives different
  /// pixels, so that older tables are no longer found. `CacheVersionTests` fails until you do.
  static let pixelVersion: UInt64 = 1
  /// The number of slots that may hold a given frame.
  static let ways = 16
  static let maximumSlotCount = 8192
  /// The offset of the byte that every process locks for reading while it has the table open. Only a process that can
  /// lock this byte for writing may remove the file.
  static let presence = 1
  private static let magic: UInt64 = 0x5a4f_4554_5441_424c
  private static let headerWords = 16

  let shape: TableShape
  /// The number of slots, which is a multiple of ``wayCount``.
  let slotCount: Int
  let pageSize: Int
  /// A random number that distinguishes the table from other tables of the same shape.
  let number: UInt64

  /// Creates the layout of a new table in a store of `byteLimit` bytes, or returns nil if not even one frame fits in
  /// the store.
  package init?(_ shape: TableShape, byteLimit: Int, pageSize: Int, number: UInt64) {
    let frame = shape.frameBytes
    guard frame > 0, frame <= byteLimit, frame < 1 << 40 else { return nil }
    self.shape = shape
    self.pageSize = pageSize
    self.number = number
    let stride = (frame + pageSize - 1) / pageSize * pageSize
    let maximum = min(shape.name?.maximumCount ?? .max, Self.maximumSlotCount)
    let count = min(max(byteLimit / stride, 1) * 2, max(maximum, 1))
    slotCount = count < Self.ways ? count : count / Self.ways * Self.ways
  }

  var wayCount: Int { min(slotCount, Self.ways) }
  var setCount: Int { slotCount / wayCount }
  var stride: Int { (shape.frameBytes + pageSize - 1) / pageSize * pageSize }
  var usesOffset: Int { pageSize }
  var usesBytes: Int { slotCount * 8 }
  var entriesOffset: Int { pageSize + roundedToPage(usesBytes) }
  var pixelsOffset: Int { entriesOffset + roundedToPage(slotCount * TableEntry.byteCount) }
  var fileBytes: Int { pixelsOffset + slotCount * stride }

  private func roundedToPage(_ count: Int) -> Int { (count + pageSize - 1) / pageSize * pageSize }

  /// Returns the offset of the time of last use of `slot`. The time is in nanoseconds since 1970, or 0 if the slot
  /// takes no disk space.
  func use(of slot: Int) -> Int { usesOffset + slot * 8 }
  func entry(of slot: Int) -> Int { entriesOffset + slot * TableEntry.byteCount }
  /// Returns the byte range of the pixels of `slot`.
  func pixels(of slot: Int) -> Range<Int> {
    let start = pixelsOffset + slot * stride
    return start..<start + shape.frameBytes
  }

  /// Returns the byte range of all pages that hold the pixels of `slot`. If a hole covered only the pixels, the last
  /// page would stay allocated.
  func pages(of slot: Int) -> Range<Int> {
    let start = pixelsOffset + slot * stride
    return start..<start + stride
  }

  /// Returns the slots whose entries lie in the same page as the entry of `slot`.
  func neighbours(of slot: Int) -> Range<Int> {
    let count = pageSize / TableEntry.byteCount
    let first = slot / count * count
    return first..<min(first + count, slotCount)
  }

  /// Returns the byte range of the pixels of a frame of `size` in `slot`, or nil if the frame does not fit.
  func pixels(of slot: Int, size: PixelSize) -> Range<Int>? {
    guard shape.holds(size) else { return nil }
    let start = pixelsOffset + slot * stride
    return start..<start + shape.format.bytesPerRow(width: size.width) * size.height
  }

  /// Returns the number of bytes of the pages that the pixels of `slot` take, given the bytes of its entry. A frame
  /// that is smaller than the slot takes only the pages of its own pixels.
  func allocatedBytes(of slot: Int, entry: borrowing RawSpan) -> Int {
    guard let size = TableEntry.size(in: entry), let range = pixels(of: slot, size: size),
      !range.isEmpty
    else { return stride }
    return min(roundedToPage(range.count), stride)
  }

  /// Returns the slots that may hold the frame of `key`. These slots form a set. Consecutive frames map to consecutive
  /// sets, so the frames of one animation are spread evenly over the sets.
  func slots(of key: TableKey) -> StrideTo<Int> {
    let sets = UInt64(setCount)
    let set = Int((key.animation % sets + UInt64(key.index) % sets) % sets)
    return Swift.stride(from: set, to: slotCount, by: setCount)
  }

  /// Returns the header, which is at the start of the header page.
  func header(_ secret: HashSecret) -> [UInt8] {
    var words = [UInt64](repeating: 0, count: Self.headerWords)
    words[0] = Self.magic
    words[1] = Self.version
    words[2] = Self.pixelVersion
    words[3] = UInt64(pageSize)
    words[4] = UInt64(shape.size.width)
    words[5] = UInt64(shape.size.height)
    words[6] = UInt64(shape.format.kind.rawValue)
    words[7] = UInt64(slotCount)
    words[8] = UInt64(fileBytes)
    words[9] = number
    words[15] = secret.hash64(words.span.extracting(first: 15).rawBytes)
    var bytes: [UInt8] = []
    bytes.append(copying: words.span.rawBytes)
    return bytes
  }

  /// Reads the header of `file`. Returns nil unless the file is a complete table of `shape`.
  init?(
    of file: TableFile, _ shape: TableShape, secret: HashSecret
  ) throws(AnimatedImageError) {
    let header = try file.read(Self.headerWords * 8, at: 0)
    self.init(header: header, of: shape, pageSize: TableFile.pageSize, secret: secret)
    guard try file.status.byteCount == fileBytes else { return nil }
  }

  /// Parses the header `bytes`. Returns nil unless this version wrote the header for a table of `shape`, with this
  /// secret, on a machine with the same page size and byte order.
  init?(header bytes: [UInt8], of shape: TableShape, pageSize: Int, secret: HashSecret) {
    guard bytes.count >= Self.headerWords * 8, (1..<1 << 40).contains(shape.frameBytes) else {
      return nil
    }
    let words = (0..<Self.headerWords).map { bytes.rawBytes.load(UInt64.self, at: $0 * 8) }
    self.shape = shape
    self.pageSize = pageSize
    guard let count = Int(exactly: words[7]), (1...Self.maximumSlotCount).contains(count),
      count < Self.ways || count % Self.ways == 0
    else { return nil }
    slotCount = count
    number = words[9]
    // Every other field must equal the value that this process would write.
    guard header(secret) == Array(bytes.prefix(Self.headerWords * 8)) else { return nil }
  }
}

/// A key that identifies a frame in a table.
struct TableKey: Sendable, Hashable {
  /// The two halves (`high` and `low`) of a hash of everything that determines the pixels. Frames with equal hashes are
  /// considered equal.
  let high: UInt64
  let low: UInt64
  /// A hash of the animation and its rendition.
  let animation: UInt64
  let index: Int
  let content: ContentIdentity
  /// The size of the frame.
  let size: PixelSize

  /// Creates the table key of `key`, hashed with the store's secret.
  init(_ key: FrameKey, secret: HashSecret) {
    let rendition = key.animation.rendition
    var words: [UInt64] = [
      key.animation.content.high, key.animation.content.low,
      UInt64(bitPattern: Int64(rendition.size.width)),
      UInt64(bitPattern: Int64(rendition.size.height)),
      UInt64(rendition.format.kind.rawValue), rendition.damage.code | rendition.decoder.code,
    ]
    if let scaling = rendition.scaling {
      words += [
        scaling.fit.code, scaling.filter.code, scaling.linearLight ? 1 : 0,
        scaling.pixelAspect.bitPattern,
      ]
    }
    if let drawing = rendition.drawing {
      words += [
        1, UInt64(bitPattern: Int64(drawing.version)),
        secret.hash64(Array(drawing.name.utf8).rawBytes),
      ]
    }
    if rendition.canvasFormat != .rgba8 {
      words += [2, UInt64(rendition.canvasFormat.kind.rawValue)]
    }
    animation = secret.hash64(words.span.rawBytes)
    words.append(UInt64(bitPattern: Int64(key.index)))
    let hash = secret.hash128(words.span.rawBytes)
    (high, low) = (hash.high, hash.low)
    index = max(key.index, 0)
    content = key.animation.content
    size = rendition.size
  }
}

// The codes are spelt out, because the codes in tables and records must not change with the order of the cases.
extension DamagePolicy {
  var code: UInt64 {
    switch kind {
    case .salvage: 1
    case .strict: 2
    case .partialRows: 3
    }
  }
}

extension PixelDecoder {
  /// The code of the decoder. It shares no bits with the codes of damage policies, because the two codes are combined.
  fileprivate var code: UInt64 {
    switch kind {
    case .fast: 0
    case .reference: 1 << 8
    }
  }
}

extension ScalingFit {
  fileprivate var code: UInt64 {
    switch kind {
    case .fit: 1
    case .fill: 2
    case .stretch: 3
    case .integer: 4
    }
  }
}

extension ScalingFilter {
  fileprivate var code: UInt64 {
    switch kind {
    case .nearest: 1
    case .box: 2
    case .bilinear: 3
    case .bicubic: 4
    case .lanczos3: 5
    }
  }
}
