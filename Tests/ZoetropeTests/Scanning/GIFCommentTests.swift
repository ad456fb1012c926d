import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// The text of GIF comments.
@Suite(.timeLimit(.minutes(10)), .computes) struct GIFCommentTests {
  private static func gif(_ comment: [UInt8]) -> [UInt8] {
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 1, height: 1, palette: GIFPalette([.black, .black]))
    gif.comment(comment)
    gif.frame(GIFFrame(rect: PixelRect(x: 0, y: 0, width: 1, height: 1), indices: [0]))
    gif.trailer()
    return gif.bytes
  }

  private static func comments(_ bytes: [UInt8]) throws -> [String] {
    try AnimatedImage(bytes: bytes).metadata.texts.map(\.value)
  }

  @Test func `a comment is UTF-8, and Latin-1 if it cannot be UTF-8`() throws {
    #expect(try Self.comments(Self.gif(Array("Über \u{1f600}".utf8))) == ["Über \u{1f600}"])
    #expect(try Self.comments(Self.gif([0xdc] + Array("ber".utf8))) == ["Über"])
  }

  @Test(arguments: ["Über \u{1f600}", "Über €", "Über Ü", "smile \u{1f600}", "price €"])
  func `a comment that is cut within a character keeps the text before it`(
    _ text: String
  ) throws {
    let bytes = Array(text.utf8)
    let kept = String(text.dropLast())
    let isASCII = kept.utf8.allSatisfy { $0 < 0x80 }
    for count in kept.utf8.count + (isASCII ? 2 : 1)..<bytes.count {
      #expect(try Self.comments(Self.gif(Array(bytes[..<count]))) == [kept])
    }
  }

  @Test func `Latin-1 that ends in an accented letter is not taken for cut UTF-8`() throws {
    #expect(try Self.comments(Self.gif(Array("Caf".utf8) + [0xe9])) == ["Café"])
    #expect(try Self.comments(Self.gif([0xc9, 0x74, 0xe9])) == ["Été"])
  }

  @Test func `no byte of a comment is lost`() throws {
    let bytes: [UInt8] = Array(128...255) + Array(0..<128)
    let text = try #require(try Self.comments(Self.gif(bytes)).first)
    #expect(text.unicodeScalars.map(\.value) == bytes.map { UInt32($0) })
  }

  @Test func `a Latin-1 comment is written as UTF-8, and stays the same`() throws {
    let image = try AnimatedImage(bytes: Self.gif([0xa9, 0x20, 0xdc]))
    let sink = MemorySink()
    var options = AnimationWriterOptions(copying: image)
    options.format = .gif
    _ = try image.reencode(to: sink, options: options)
    #expect(try Self.comments(sink.bytes) == ["© Ü"])
  }
}
