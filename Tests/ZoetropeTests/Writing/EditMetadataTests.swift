import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeWriting

/// What edits say of metadata that they leave out.
@Suite(.timeLimit(.minutes(10)), .startsThreads) struct EditMetadataTests {
  private static let film = (0..<4).map { time in
    Pictures.make(16, 12) { x, y in
      RGBA(red: UInt8(x * 9 + time), green: UInt8(y * 20), blue: UInt8((x + y) % 2 * 90))
    }
  }

  /// An APNG with `chunk` before its pixels.
  private static func apng(_ chunk: PNGChunk?) throws -> AnimatedImage {
    var bytes = try ToleranceTests.write(film, AnimationWriterOptions(identicalFrames: .keep))
    bytes.insert(contentsOf: chunk?.bytes ?? [], at: 33)
    return try AnimatedImage(bytes: bytes)
  }

  /// A GIF with an extension before its first frame.
  private static func gif(
    _ add: (inout GIFBuilder) -> Void
  ) throws -> AnimatedImage {
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 2, height: 2, palette: GIFPalette([.black, RGBA(red: 9, green: 9, blue: 9)]))
    gif.loop(0)
    add(&gif)
    for index in 0..<3 as Range<UInt8> {
      gif.graphicControl(GIFGraphicControl(delay: 5, disposal: 1))
      gif.frame(
        GIFFrame(rect: PixelRect(x: 0, y: 0, width: 2, height: 2), indices: [index % 2, 0, 1, 1]))
    }
    gif.trailer()
    return try AnimatedImage(bytes: gif.bytes)
  }

  /// Whether the plan and the file say that metadata is left out, which they have to agree on.
  private static func losesMetadata(
    _ image: AnimatedImage, _ edits: [AnimationEdit], _ options: EditOptions = .init()
  ) throws -> Bool {
    let plan = try EditPlan(image, edits, options)
    let written = try plan.write(to: MemorySink())
    let budgeted = try image.fitted(
      edits, options, to: ByteBudget(byteLimit: 1 << 20), isCancelled: { false })
    let fitted = try budgeted.write(to: MemorySink(), isCancelled: { false }) { _ in }
    #expect(written.losesMetadata == plan.losesMetadata)
    #expect(fitted.losesMetadata == plan.losesMetadata && fitted.concessions == nil)
    #expect(plan.description.contains("metadata left out") == plan.losesMetadata)
    return plan.losesMetadata
  }

  private static let halved = [AnimationEdit.resize(TargetSize(width: 8))]

  @Test(arguments: ["prVt", "caBX", "tIME", "tEXt", nil])
  func `chunks that are not written with the metadata are missed`(_ type: String?) throws {
    let data: [UInt8] = type == "tIME" ? [7, 230, 11, 30, 12, 0, 0] : [65, 0, 66]
    let image = try Self.apng(type.map { PNGChunk($0, data) })
    let isOther = type != nil && type != "tEXt"
    #expect(try Self.losesMetadata(image, Self.halved) == isOther)
    #expect(try Self.losesMetadata(image, [], EditOptions(colors: .limited(to: 4))) == isOther)
    // Beside copied frames, chunks are copied, but not a signature of the bytes that an edit changes.
    #expect(try !Self.losesMetadata(image, []))
    for edits in [[AnimationEdit.speed(0.5)], [.frames(1..<4)]] {
      #expect(try Self.losesMetadata(image, edits) == (type == "caBX"), "\(edits)")
    }
  }

  @Test func `blocks that are not written with the metadata are missed`() throws {
    let cases: [(isOther: Bool, add: (inout GIFBuilder) -> Void)] = [
      (false, { _ in }), (false, { $0.comment(Array("hello".utf8)) }),
      (false, { $0.application("ICCRGBG1012", payload: [1, 2, 3]) }),
      (true, { $0.application("ZOETROPE1.0", payload: [1, 2, 3]) }),
      (true, { $0.extension(label: 0x99, blocks: [[1], [2, 3]]) }),
    ]
    for (place, (isOther, add)) in cases.enumerated() {
      let image = try Self.gif(add)
      let edits = [AnimationEdit.resize(TargetSize(width: 4))]
      #expect(try Self.losesMetadata(image, edits) == isOther, "\(place)")
      #expect(try !Self.losesMetadata(image, [.speed(0.5)]), "\(place)")
    }
  }

  @Test func `chunks that do not apply to another form of pixels are missed`() throws {
    let bits = PNGChunk("sBIT", [5, 6, 5, 8])
    let image = try Self.apng(bits)
    #expect(try !Self.losesMetadata(image, [.frames(1..<4)]))
    #expect(try Self.losesMetadata(image, Self.halved))
    let (map, header) = (try PNGStructureMap(image), image.header)
    var other = header
    other.colorType = header.colorType == 6 ? 2 : 6
    let chunk = try #require(map.head.first { $0.name == "sBIT" })
    #expect(!PNGStructureMap.applies(chunk, to: other, of: header))
    #expect(PNGStructureMap.applies(chunk, to: header, of: header))
  }

  @Test func `a format that cannot store metadata misses it`() throws {
    let image = try Self.apng(PNGChunk("gAMA", [0, 0, 177, 143]))
    #expect(try Self.losesMetadata(image, [], EditOptions(format: .gif)))
    #expect(try !Self.losesMetadata(image, Self.halved))
  }
}
