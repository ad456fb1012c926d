import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeRemote

@Suite(.timeLimit(.minutes(10)), .computes) struct ImageIndexTests {
  static let recipes = FixtureTests.recipes.filter { $0.expectations.errorCode == nil }

  @Test(arguments: recipes) func `an index comes back as it was stored`(recipe: Recipe) throws {
    let image = try AnimatedImage(bytes: recipe.bytes)
    let index = ImageIndex(of: image)
    let read = try ImageIndex(bytes: index.bytes)
    #expect(read == index)
    #expect(read.frames == image.frames && read.canvasSize == image.canvasSize)
    #expect(read.format == image.format && read.playCount == image.playCount)
    #expect(read.byteCount == recipe.bytes.count)
    #expect(read.bytes == index.bytes)
  }

  @Test func `a byte that is changed or missing is noticed`() throws {
    let data = try Self.index(of: "Demo/variable-delay.gif").bytes
    for place in data.indices {
      for flip in [UInt8(1), 0x80, 0xff] {
        var broken = data
        broken[place] ^= flip
        #expect(Self.code(of: broken) == .invalidImageIndex, "byte \(place)")
      }
      #expect(Self.code(of: Array(data[..<place])) == .invalidImageIndex, "cut at \(place)")
    }
    #expect(Self.code(of: data + [0]) == .invalidImageIndex)
    #expect(Self.code(of: []) == .invalidImageIndex)
  }

  @Test func `an index of another version is refused by name`() throws {
    var content = Array(try Self.index(of: "Demo/variable-delay.gif").bytes.dropLast(8))
    content[8] += 1
    let error = #expect(throws: AnimatedImageError.self) {
      _ = try ImageIndex(bytes: ImageIndex.sealed(content))
    }
    #expect(error?.code == .invalidImageIndex && error?.detail.contains("version 2") == true)
  }

  /// What a scanner never finds.
  enum Lie: CaseIterable {
    case noFrame, endPastFile, framesOverlap, wrongNumber, negativePlace, hugeCanvas, noCanvas
    case palette, bitDepth, colorType, outside, transparency, chromaticities, staticImage, format
    case wideFrame

    func tell(_ scan: inout ScannedImage, _ header: inout ImageHeader) {
      let first = scan.frames[0]
      func frame(
        _ index: Int = 0, rect: PixelRect? = nil, bytes: Range<Int>? = nil
      ) -> FrameControl {
        FrameControl(
          index: index, rect: rect ?? first.rect, delay: first.delay,
          byteRange: bytes ?? first.byteRange)
      }
      switch self {
      case .noFrame: scan.frames = []
      case .endPastFile: scan.frames[0] = frame(bytes: first.byteRange.lowerBound ..< .max)
      case .framesOverlap: scan.frames[1] = frame(1)
      case .wrongNumber: scan.frames[0] = frame(7)
      case .negativePlace: scan.frames[0] = frame(rect: PixelRect(x: -1, y: 0, width: 1, height: 1))
      case .hugeCanvas: header.canvasSize.width = 1 << 40
      case .noCanvas: header.canvasSize.height = 0
      case .palette: header.palette = Array(repeating: 0, count: 257)
      case .bitDepth: header.bitDepth = 200
      case .colorType: header.colorType = 5
      case .outside:
        scan.frames[0] = frame(
          rect: PixelRect(x: 1, y: 0, width: header.canvasSize.width, height: 1))
      case .transparency: header.transparency = [1]
      case .chromaticities: scan.metadata.chromaticities = [1]
      case .staticImage: scan.staticImage = frame(bytes: 0 ..< .max)
      case .format: header.format = .gif; header.canvasSize.width = 1 << 20
      case .wideFrame:
        header.format = .gif
        scan.frames = [frame(rect: PixelRect(x: 0, y: 0, width: 1 << 16, height: 1))]
      }
    }
  }

  @Test(arguments: Lie.allCases) func `an index that no scanner could produce is rejected`(lie: Lie)
    throws
  {
    let index = try Self.index(of: "Demo/spinner.png")
    var (scan, header) = (index.scan, index.header)
    lie.tell(&scan, &header)
    var record = RecordWriter()
    record.put(index.byteCount)
    record.put(scan, header)
    let data = ImageIndex.sealed(Array(index.bytes.prefix(12)) + record.bytes)
    #expect(Self.code(of: data) == .invalidImageIndex)
  }

  @Test func `a GIF's frames have the sides that 16 bits can hold, whatever the limits are`() throws
  {
    let index = try Self.index(of: "Demo/variable-delay.gif")
    func isAccepted(canvas: Int, _ rect: PixelRect) -> Bool {
      var (scan, header) = (index.scan, index.header)
      header.canvasSize = PixelSize(width: canvas, height: canvas)
      let first = scan.frames[0]
      scan.frames[0] = FrameControl(
        index: 0, rect: rect, delay: first.delay, byteRange: first.byteRange)
      var record = RecordWriter()
      record.put(index.byteCount)
      record.put(scan, header)
      let data = ImageIndex.sealed(Array(index.bytes.prefix(12)) + record.bytes)
      return Self.code(of: data) != .invalidImageIndex
    }
    let most = 65_535
    #expect(isAccepted(canvas: 2 * most, PixelRect(x: most, y: most, width: most, height: most)))
    #expect(!isAccepted(canvas: 2 * most + 1, PixelRect(x: 0, y: 0, width: 1, height: 1)))
    for (x, y, width, height) in [
      (most + 1, 0, 1, 1), (0, most + 1, 1, 1), (0, 0, most + 1, 1), (0, 0, 1, most + 1),
    ] {
      let rect = PixelRect(x: x, y: y, width: width, height: height)
      #expect(!isAccepted(canvas: 2 * most, rect), "\(rect)")
    }
  }

  @Test(arguments: ["Demo/variable-delay.gif", "Demo/spinner.png"])
  func `a forged index never does more than a damaged file`(name: String) async throws {
    let bytes = try FixtureLibrary().file(name)
    let content = Array(ImageIndex(of: try AnimatedImage(bytes: bytes)).bytes.dropLast(8))
    var random = SplitMix64(seed: 5)
    var accepted = 0
    for _ in 0..<3000 {
      var forged = content
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 12..<forged.count, using: &random)
        forged[place] = UInt8.random(in: 0...255, using: &random)
      }
      guard let index = try? ImageIndex(bytes: ImageIndex.sealed(forged)),
        let image = try? await RemoteImage(
          reading: CountedRanges(bytes), index: index, options: DecodingOptions(limits: .strict))
      else { continue }
      accepted += 1
      guard accepted % 8 == 0 else { continue }
      _ = try? await image.bitmap(at: Int.random(in: image.frames.indices, using: &random))
    }
    #expect(accepted > 100)
  }

  private static func index(of name: String) throws -> ImageIndex {
    ImageIndex(of: try AnimatedImage(bytes: FixtureLibrary().file(name)))
  }

  private static func code(of data: [UInt8]) -> AnimatedImageError.Code? {
    do throws(AnimatedImageError) {
      _ = try ImageIndex(bytes: data)
      return nil
    } catch {
      return error.code
    }
  }
}
