import SystemPackage
import Testing
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

@testable import ZoetropeCLI
@testable import ZoetropeCore

/// Manifests as `make` reads them, and the JSON below them.
@Suite(.timeLimit(.minutes(10))) struct FrameManifestTests {
  private func manifest(_ text: String) throws -> FrameManifest {
    try FrameManifest(parsing: Array(text.utf8), name: "m.json")
  }

  private static let loop = #""loop":{"plays":null,"forever":true}"#
  private static let frame = #"{"index":0,"delay":{"num":1,"den":10},"output":"f.png"}"#

  @Test func `frames have files, delays and plays`() throws {
    let manifest = try manifest(
      #"""
      {"schema":"zoetrope.animation/3","loop":{"plays":3,"forever":false},"default_image":{"is_frame_0":false,
      "output":"s.png"},"frames":[{"index":2,"delay":{"num":1,"den":3},"output":"a\u0020b.png"},
      {"index":3,"delay":{"num":0,"den":100},"same_as":2},
      {"index":4,"delay":{"num":7,"den":100},"output":"?","output_base64":"/2EucG5n"}]}
      """#.split(separator: "\n").joined())
    #expect(manifest.playCount == .finite(3))
    #expect(manifest.poster == "s.png")
    #expect(
      manifest.frames.map(\.path) == ["a b.png", "a b.png", FilePath(bytes: [0xff] + "a.png".utf8)])
    #expect(manifest.frames.map(\.delay.numerator) == [1, 0, 7])
  }

  @Test(arguments: [
    "", "{}\n{}", "[1,", "{}", #"{"schema":"zoetrope.animation/1"}"#,
    #"{"schema":"zoetrope.animation/3","frames":[]}"#,
    #"{"schema":"zoetrope.animation/3",\#(loop),"frames":[]}"#,
    #"{"schema":"zoetrope.animation/3",\#(loop),"frames":5}"#,
    #"{"schema":"zoetrope.animation/3",\#(loop),"error":{"code":"io"},"frames":[\#(frame)]}"#,
    #"{"schema":"zoetrope.animation/3","loop":{"plays":0,"forever":false},"frames":[\#(frame)]}"#,
    #"{"schema":"zoetrope.animation/3",\#(loop),"frames":[{"index":0,"delay":{"num":1,"den":10}}]}"#,
    #"{"schema":"zoetrope.animation/3",\#(loop),"frames":[{"index":0,"output":"f.png"}]}"#,
    #"{"schema":"zoetrope.animation/3",\#(loop),"frames":[{"index":0,"delay":{"num":-1,"den":1},"output":"f"}]}"#,
    #"{"schema":"zoetrope.animation/3",\#(loop),"frames":[{"index":1,"delay":{"num":1,"den":1},"same_as":0}]}"#,
    #"{"schema":"zoetrope.animation/3",\#(loop),"frames":[{"index":0,"delay":{"num":1,"den":1},"output":"-"}]}"#,
  ])
  func `an incomplete manifest is rejected with its name`(_ text: String) {
    let failure = #expect(throws: CommandFailure.self) { try manifest(text) }
    #expect(failure?.status == .usage)
    #expect(failure?.message.contains("m.json") == true)
  }

  @Test func `JSON is read as it is written`() throws {
    let text =
      #" {"a" : [1, -2.5e1, true, false, null, "\"\\\/\b\f\n\r\té😀\ud83d\ude00"], "b":{} , "a2":[]}"#
    let value = try JSONValue(parsing: Array(text.utf8)[...])
    #expect(value["a"]?.elements?[0].integer == 1)
    #expect(value["a"]?.elements?[1] == .number(-25))
    #expect(value["a"]?.elements?[2].truth == true)
    #expect(value["a"]?.elements?[4] == .null)
    #expect(value["a"]?.elements?[5].text == "\"\\/\u{8}\u{c}\n\r\té😀😀")
    #expect(value["b"] == .object([:]))
    #expect(value["c"] == nil)
    var writer = JSONWriter()
    let odd = "a\u{0}\u{9f}\"\\\u{1F600}\u{fffd}"
    writer.object { $0.field("k", odd) }
    #expect(try JSONValue(parsing: writer.bytes[...])["k"]?.text == odd)
  }

  @Test(arguments: [
    "", " ", "{", "[", "[1", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "\"a", "\"\\x\"", "\"\\u12\"",
    "nul", "+1", ".5",
    "NaN", "0x10", "1 2", "\"\n\"", "]", "1e999", "\"\\", String(repeating: "[", count: 100_000),
    "\"\\u+123\"",
  ])
  func `text that is not JSON is rejected`(_ text: String) {
    #expect(throws: JSONValue.Fault.self) { try JSONValue(parsing: Array(text.utf8)[...]) }
  }

  @Test func `half of a surrogate pair is not a character`() throws {
    for text in [#""\ud83d""#, #""\ude00""#, #""\ud83dx""#] {
      let value = try JSONValue(parsing: Array(text.utf8)[...])
      #expect(value.text?.hasPrefix("\u{fffd}") == true)
    }
  }

  @Test func `base64 is read as it is written`() {
    var bytes: [UInt8] = []
    for count in 0..<20 {
      var text: [UInt8] = []
      Base64.append(bytes[...], to: &text)
      #expect(Base64Text.bytes(of: String(decoding: text, as: UTF8.self)) == bytes)
      bytes.append(UInt8(count &* 83 & 255))
    }
    for text in ["a", "a===", "====", "ab=c", "ab c", "\u{e9}aaa"] {
      #expect(Base64Text.bytes(of: text) == nil, "\(text)")
    }
  }
}
