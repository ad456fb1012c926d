/// Encodes numbers and text as a sequence of bytes, in which small numbers take few bytes.
package struct RecordWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func put(_ number: Int) {
    // Zigzag encoding moves the sign into the lowest bit. The number is then written seven bits per byte, the lowest
    // bits first; the top bit of a byte says that more bytes follow.
    var rest = UInt64(bitPattern: Int64(number << 1 ^ number >> (Int.bitWidth - 1)))
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  package mutating func put(_ number: some FixedWidthInteger & UnsignedInteger) {
    put(Int(truncatingIfNeeded: number))
  }

  package mutating func put(_ flag: Bool) { put(flag ? 1 : 0) }

  package mutating func put(_ data: [UInt8]) {
    put(data.count)
    bytes += data
  }

  package mutating func put(_ text: String) { put(Array(text.utf8)) }

  package mutating func put<Value>(_ value: Value?, _ body: (inout RecordWriter, Value) -> Void) {
    put(value != nil)
    if let value { body(&self, value) }
  }

  package mutating func put<Value>(_ values: [Value], _ body: (inout RecordWriter, Value) -> Void) {
    put(values.count)
    for value in values { body(&self, value) }
  }
}

/// Decodes the bytes that a ``RecordWriter`` has written. For reads past the end and for invalid numbers, the reader
/// returns zero or an empty value, and records that the bytes are damaged.
package struct RecordReader {
  private let bytes: [UInt8]
  private var place: Int
  private(set) var isDamaged = false

  package init(_ bytes: [UInt8], from place: Int = 0) {
    self.bytes = bytes
    self.place = place
  }

  /// Whether the reader has read all bytes and found no damage.
  package var isComplete: Bool { !isDamaged && place == bytes.count }

  private mutating func damaged() { isDamaged = true }

  package mutating func int() -> Int {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while place < bytes.count, shift < 64 {
      let byte = bytes[place]
      place += 1
      number |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 {
        return Int(bitPattern: UInt(number >> 1)) ^ -Int(number & 1)
      }
      shift += 7
    }
    damaged()
    return 0
  }

  package mutating func number<Number: FixedWidthInteger & UnsignedInteger>(_: Number.Type)
    -> Number
  {
    Number(truncatingIfNeeded: int())
  }

  package mutating func flag() -> Bool { int() != 0 }

  package mutating func data() -> [UInt8] {
    let count = int()
    guard count >= 0, count <= bytes.count - place, !isDamaged else {
      damaged()
      return []
    }
    defer { place += count }
    return Array(bytes[place..<place + count])
  }

  package mutating func text() -> String { String(decoding: data(), as: UTF8.self) }

  package mutating func optional<Value>(_ body: (inout RecordReader) -> Value) -> Value? {
    flag() && !isDamaged ? body(&self) : nil
  }

  package mutating func list<Value>(_ body: (inout RecordReader) -> Value?) -> [Value] {
    let count = int()
    // Every element is encoded in at least one byte.
    guard count >= 0, count <= bytes.count - place else {
      damaged()
      return []
    }
    var values: [Value] = []
    // The count is not trusted: an element may take far more memory than its encoding has bytes.
    values.reserveCapacity(min(count, 1 << 12))
    for _ in 0..<count where !isDamaged {
      guard let value = body(&self) else {
        damaged()
        break
      }
      values.append(value)
    }
    return values
  }

  package mutating func choice<Value: RawRepresentable>(_: Value.Type) -> Value?
  where Value.RawValue == UInt8 { Value(rawValue: number(UInt8.self)) }
}

// MARK: - Images

extension RecordWriter {
  /// Writes the result of scanning the file of `image`, and the header of `image`.
  package mutating func put(_ image: AnimatedImage) { put(image.scanned, image.header) }

  /// Writes the result of a scan and the header of the image.
  package mutating func put(_ image: ScannedImage, _ header: ImageHeader) {
    put(header.format.rawValue)
    put(header.canvasSize.width)
    put(header.canvasSize.height)
    put(header.palette) { $0.put($1) }
    put(header.bitDepth)
    put(header.colorType)
    put(header.isInterlaced)
    put(header.transparency)
    put(image.frames) { $0.put($1) }
    put(image.staticImage) { $0.put($1) }
    put(image.storedLoopCount) { $0.put($1) }
    put(image.damage) { $0.put($1) }
    put(image.metadata)
  }

  private mutating func put(_ frame: FrameControl) {
    put(frame.index)
    for number in [frame.rect.x, frame.rect.y, frame.rect.width, frame.rect.height] { put(number) }
    put(frame.delay.numerator)
    put(frame.delay.denominator)
    put(frame.disposal.rawValue)
    put(frame.blend.rawValue)
    put(frame.isIndependent)
    put(frame.isInterlaced)
    put(frame.palette.rawValue)
    put(frame.byteRange.lowerBound)
    put(frame.byteRange.count)
    put(frame.localPaletteCount)
    put(frame.transparentIndex) { $0.put($1) }
  }

  private mutating func put(_ damage: Damage) {
    put(damage.kind.name)
    put(damage.kind.isTolerated)
    put(damage.kind.isRefusedByStrict)
    put(damage.detail)
    put(damage.frameIndex) { $0.put($1) }
    put(damage.byteOffset)
    put(damage.validRows) { $0.put($1) }
  }

  private mutating func put(_ metadata: AnimationMetadata) {
    put(metadata.texts) {
      $0.put($1.key)
      $0.put($1.value)
    }
    put(metadata.applicationBlocks) {
      $0.put($1.identifier)
      $0.put($1.byteCount)
      $0.put($1.byteOffset)
    }
    put(metadata.xmp) { $0.put($1) }
    put(metadata.gamma) { $0.put($1) }
    put(metadata.chromaticities) { $0.put($1) { $0.put($1) } }
    put(metadata.srgbIntent) { $0.put($1) }
    put(metadata.iccProfile) { $0.put($1) }
    put(metadata.iccProfileName) { $0.put($1) }
    put(metadata.cicp) { $0.put($1) }
    put(metadata.pixelDensity) {
      $0.put($1.x)
      $0.put($1.y)
      $0.put($1.isPerMeter)
    }
    put(metadata.exif) { $0.put($1) }
  }
}

extension RecordReader {
  /// Reads an image that ``RecordWriter/put(_:)-(AnimatedImage)`` has written. Returns nil if the bytes are damaged.
  package mutating func image() -> ScannedImage? {
    let format = AnimationFormat(rawValue: text())
    guard FormatTable.row(of: format) != nil else { return nil }
    var header = ImageHeader(
      format: format, canvasSize: PixelSize(width: int(), height: int()))
    header.palette = list { $0.number(UInt32.self) }
    header.bitDepth = number(UInt8.self)
    header.colorType = number(UInt8.self)
    header.isInterlaced = flag()
    header.transparency = data()
    var image = ScannedImage()
    image.header = header
    image.frames = list { $0.frame() }
    image.staticImage = optional { $0.frame() } ?? nil
    image.storedLoopCount = optional { $0.number(UInt32.self) }
    image.damage = list { $0.damage() }
    image.metadata = metadata()
    return isComplete ? image : nil
  }

  private mutating func frame() -> FrameControl? {
    let index = int()
    let rect = PixelRect(x: int(), y: int(), width: int(), height: int())
    let delay = FrameDelay(numerator: number(UInt32.self), denominator: number(UInt32.self))
    guard let disposal = choice(DisposalMethod.self), let blend = choice(BlendOperation.self) else {
      return nil
    }
    let (isIndependent, isInterlaced) = (flag(), flag())
    guard let palette = choice(PaletteUse.self) else { return nil }
    let (start, count) = (int(), int())
    let (end, overflow) = start.addingReportingOverflow(count)
    guard start >= 0, count >= 0, !overflow else { return nil }
    return FrameControl(
      index: index, rect: rect, delay: delay, disposal: disposal, blend: blend,
      isIndependent: isIndependent, isInterlaced: isInterlaced, palette: palette,
      byteRange: start..<end, localPaletteCount: int(),
      transparentIndex: optional { $0.number(UInt8.self) })
  }

  private mutating func damage() -> Damage? {
    let kind = Damage.Kind(text(), isTolerated: flag(), isRefusedByStrict: flag())
    return Damage(
      kind, text(), frameIndex: optional { $0.int() }, byteOffset: int(),
      validRows: optional { $0.int() })
  }

  private mutating func metadata() -> AnimationMetadata {
    var metadata = AnimationMetadata()
    metadata.texts = list { AnimationMetadata.Text(key: $0.text(), value: $0.text()) }
    metadata.applicationBlocks = list {
      AnimationMetadata.ApplicationBlock(
        identifier: $0.text(), byteCount: $0.int(), byteOffset: $0.int())
    }
    metadata.xmp = optional { $0.text() }
    metadata.gamma = optional { $0.number(UInt32.self) }
    metadata.chromaticities = optional { $0.list { $0.number(UInt32.self) } }
    metadata.srgbIntent = optional { $0.number(UInt8.self) }
    metadata.iccProfile = optional { $0.data() }
    metadata.iccProfileName = optional { $0.text() }
    metadata.cicp = optional { $0.data() }
    metadata.pixelDensity = optional {
      AnimationMetadata.PixelDensity(
        x: $0.number(UInt32.self), y: $0.number(UInt32.self), isPerMeter: $0.flag())
    }
    metadata.exif = optional { $0.data() }
    return metadata
  }
}
