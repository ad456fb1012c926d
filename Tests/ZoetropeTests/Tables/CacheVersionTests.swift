import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeStore

/// What is kept on disk has versions, so that nothing is served that this build would make differently. These tests
/// fail when the build makes anything else.
///
/// Then raise the version, and add a line for it with the hash that the test prints. Never change a line: the old
/// version stands for what is on users' disks.
@Suite(.timeLimit(.minutes(10)), .computes) struct CacheVersionTests {
  /// By `TableLayout.pixelVersion`, for each decoder.
  private static let pixels: [PixelDecoder: [UInt64: String]] = [
    .fast: [1: "43692da88a82ff39aead741da3dc5b7d"],
    .reference: [1: "66f06ff5e30513115d418068d4c75a41"],
  ]
  /// By `TableLayout.version`.
  private static let tables: [UInt64: String] = [5: "f7a603d1cbb163d02fd6f0b815242a18"]
  /// By `StoreIndex.version`.
  private static let records: [Int: String] = [1: "504b39a664ffa82d5e28e787d4a36dcd"]
  /// By `ImageIndex.version`.
  private static let indexes: [UInt32: String] = [1: "a05dd9c3ffda9ef3c17a6845ffbfa4d8"]

  /// Small files of both formats, of every disposal, kind of pixels and much damage.
  private static let names = [
    "GIF/dispose-previous.gif", "GIF/interlaced.gif", "GIF/transparent-delta.gif",
    "APNG/dispose-previous-blend-over.png", "APNG/dispose-background-blend-source.png",
    "APNG/type-grey-alpha-16.png", "APNG/type-rgb-16-interlaced.png", "APNG/trns-palette.png",
    "Bad/gif-cut-in-frame-1.gif", "Bad/apng-cut-in-frame-2.png",
  ]

  @Test(arguments: [PixelDecoder.fast, .reference])
  func `other pixels have another version`(_ decoder: PixelDecoder) async throws {
    var parts: [String] = []
    for name in Self.names {
      let bytes = try FixtureLibrary().file(name)
      for (damage, keeps16Bit) in [
        (DamagePolicy.salvage, false), (.salvage, true), (.partialRows, false),
      ] {
        let image = try AnimatedImage(
          bytes: bytes,
          options: DecodingOptions(damage: damage, decoder: decoder, keeps16Bit: keeps16Bit))
        for index in image.frames.indices {
          parts.append(try PixelHash(of: await image.bitmap(at: index)).description)
        }
        let last = image.frames.count - 1
        for rendering in Self.renderings(of: image.canvasSize) {
          let bitmap = try await image.bitmap(at: last, rendering: rendering)
          parts.append(try PixelHash(of: bitmap).description)
        }
      }
    }
    #expect(parts.count > 500)
    try check(
      parts.map { Array($0.utf8) }, TableLayout.pixelVersion, #require(Self.pixels[decoder]))
  }

  /// Every filter and fit, smaller and larger, in both kinds of light, with square pixels and others, and every
  /// format.
  private static func renderings(of size: PixelSize) -> [Rendering] {
    let small = TargetSize(width: size.width * 2 / 3 + 1, height: size.height / 2 + 1)
    let large = TargetSize(width: size.width * 2 + 1, height: size.height + 3)
    var renderings: [Rendering] = []
    for filter in [ScalingFilter.nearest, .box, .bilinear, .bicubic, .lanczos3] {
      renderings.append(Rendering(target: small, fit: .stretch, filter: filter))
      renderings.append(Rendering(target: large, fit: .stretch, filter: filter, linearLight: true))
    }
    for fit in [ScalingFit.fit, .fill, .stretch, .integer] {
      for aspect in [0.5, 1.7] {
        let cells = TargetSize(width: large.width, height: small.height, pixelAspect: aspect)
        renderings.append(Rendering(target: cells, fit: fit))
      }
    }
    for format in PixelFormat.all {
      renderings.append(Rendering(format: format))
      renderings.append(Rendering(target: small, fit: .stretch, format: format))
    }
    return renderings
  }

  @Test func `tables of another layout, or with other keys, have another version`() throws {
    let secret = Self.secret
    var parts: [[UInt8]] = []
    for (size, name) in [
      (PixelSize(width: 40, height: 30), nil), (PixelSize(width: 300, height: 200), nil),
      (
        PixelSize(width: 96, height: 96),
        TableName("list", parameters: "1", box: PixelSize(width: 96, height: 96), maximumCount: 64)
      ),
    ] as [(PixelSize, TableName?)] {
      for format in PixelFormat.all {
        let shape = TableShape(size: size, format: format, name: name)
        let layout = try #require(
          TableLayout(shape, byteLimit: 4 << 20, pageSize: 4096, number: 7))
        parts.append(layout.header(secret))
        for key in Self.keys(size, format) {
          let table = TableKey(key, secret: secret)
          let slots = Array(layout.slots(of: table))
          let places = slots.map { [layout.use(of: $0), layout.entry(of: $0)] }
          let numbers = [table.high, table.low, table.animation]
          parts.append(Array("\(numbers) \(places) \(layout.pixels(of: slots[0]))".utf8))
          parts.append(try Self.entry(table, in: slots[0], of: layout, secret))
        }
      }
    }
    try check(parts, TableLayout.version, Self.tables)
  }

  /// Keys of renditions that differ in everything that counts.
  private static func keys(_ size: PixelSize, _ format: PixelFormat) -> [FrameKey] {
    let content = ContentIdentity(high: 1, low: 2)
    var renditions = [
      Rendition(size: size, format: format),
      Rendition(size: size, format: format, canvasFormat: .rgba16),
      Rendition(size: size, format: format, decoder: .reference),
      Rendition(
        size: size, format: format, drawing: FrameDrawing("corners", version: 3) { _, _, _ in }),
    ]
    for damage in [DamagePolicy.strict, .partialRows] {
      renditions.append(Rendition(size: size, format: format, damage: damage))
    }
    for fit in [ScalingFit.fit, .fill, .stretch, .integer] {
      let scaling = Rendition.Scaling(fit: fit, filter: .box, pixelAspect: 0.5)
      renditions.append(Rendition(size: size, format: format, scaling: scaling))
    }
    for filter in [ScalingFilter.nearest, .box, .bilinear, .bicubic, .lanczos3] {
      let scaling = Rendition.Scaling(fit: .fill, filter: filter, linearLight: true)
      renditions.append(Rendition(size: size, format: format, scaling: scaling))
    }
    return renditions.enumerated().map {
      FrameKey(AnimationKey(content: content, rendition: $0.element), index: $0.offset)
    }
  }

  /// The bytes of an entry without its first word, which is random, and its last, a checksum over that.
  private static func entry(
    _ key: TableKey, in slot: Int, of layout: TableLayout, _ secret: HashSecret
  ) throws -> [UInt8] {
    let damage = Damage(
      .cutFrame, "a detail", frameIndex: 3, byteOffset: 77, validRows: 5)
    let made = TableEntry(
      key, pixelHash: 99, damage: damage, in: slot, of: layout, secret: secret)
    let entry = try #require(made)
    var bytes: [UInt8] = []
    try entry.withBytes { (span) throws(AnimatedImageError) in
      bytes.append(copying: span.extracting(8..<span.byteCount - 8))
    }
    return bytes
  }

  @Test func `other records of files have another version`() throws {
    var records: [[UInt8]] = []
    var indexes: [[UInt8]] = []
    for name in Self.names {
      let image = try AnimatedImage(bytes: FixtureLibrary().file(name))
      var record = RecordWriter()
      record.put(image)
      records.append(record.bytes)
      indexes.append(ImageIndex(of: image).bytes)
    }
    try check(records, StoreIndex.version, Self.records)
    try check(indexes, ImageIndex.version, Self.indexes)
  }

  private static let secret = HashSecret(
    (0..<HashSecret.byteCount).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 17) })

  /// Compares the hash of `parts` with that of `version`.
  private func check<Version: Hashable>(
    _ parts: [[UInt8]], _ version: Version, _ hashes: [Version: String],
    at location: SourceLocation = #_sourceLocation
  ) throws {
    var hasher = try ContentHasher(nil)
    for part in parts { hasher.update(part.rawBytes) }
    let hash = hasher.finish().description
    #expect(
      hashes[version] == hash, "not what version \(version) stands for: raise it",
      sourceLocation: location)
  }
}
