import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes) struct RecipeTests {
  static let start = "about A test.\ngif GIF89a\nscreen 2 1 palette=rg\n"

  @Test func `a recipe compiles to the bytes that it describes`() throws {
    let text = Self.start + "image 0 0 2 1\n  |rg|\nraw 3b\nexpect frames 1\n"
    let recipe = try Recipe(name: "x", text: text)
    #expect(recipe.isGIF && recipe.outputPath == "x.gif")
    #expect(recipe.bytes.starts(with: Array("GIF89a".utf8) + [2, 0, 1, 0]))
    #expect(recipe.bytes.last == 0x3b)
    #expect(recipe.expectations.frameCount == 1 && recipe.expectations.isClean)
  }

  @Test(arguments: [
    ("image 0 0 2 1\n  |rgb|\n", 5, "3 pixels in a row of 2"),
    ("image 0 0 2 2\n  |rg|\n", 5, "1 rows in a picture of 2"),
    ("image 0 0 2 1\n  |rb|\n", 4, "image: a pixel is in no palette"),
    ("image 0 0 2 1\n  |r?|\n", 5, "the letter “?” stands for no colour"),
    ("gce delay=soon\n", 4, "gce: “soon” is not a number"),
    ("gce speed=3\n", 4, "gce: “speed=” is not understood"),
    ("trailer now\n", 4, "trailer: “now” is not understood"),
    ("idat\n", 4, "idat: is not a statement of this format"),
    ("comment \"open\n", 4, "a quote is not closed"),
    ("expect miracles\n", 4, "expect: “miracles” cannot be expected"),
    ("color rr 000000\n", 4, "color: “rr” is not one letter"),
    ("raw 123\n", 4, "raw: “123” has an odd digit"),
  ])
  func `a mistake is named with its line`(text: String, line: Int, message: String) {
    let error = #expect(throws: RecipeError.self) {
      try Recipe(name: "x", text: Self.start + text)
    }
    #expect(error?.line == line)
    #expect(error?.message == message)
  }

  @Test func `a recipe without a purpose is rejected`() {
    #expect(throws: RecipeError.self) { try Recipe(name: "x", text: "gif GIF89a\n") }
  }

  @Test func `quoted words hold spaces, escapes and any byte`() throws {
    let text = "about A test.\nbytes \"a b\\n\\0\\xff\\\"\" c # a comment\n"
    let recipe = try Recipe(name: "x", text: text)
    #expect(recipe.bytes == [0x61, 0x20, 0x62, 10, 0, 0xff, 0x22, 0x63])
  }

  @Test func `truncate and patch change what was written`() throws {
    let text = "about A test.\nbytes abcdef\ntruncate -2\npatch 1 5a\n"
    let recipe = try Recipe(name: "x", text: text)
    #expect(recipe.bytes == Array("aZcd".utf8))
  }

  @Test func `a picture is drawn in canvas coordinates`() {
    let red = PixelSample(RGBA(red: 255, green: 0, blue: 0))
    var picture = Picture(PixelRect(x: 10, y: 20, width: 3, height: 2))
    picture.fill(PixelRect(x: 0, y: 21, width: 12, height: 9), red)
    picture.disc(x: 12, y: 20, radius: 0, red)
    #expect(picture.samples.map { $0 == red } == [false, false, true, true, true, false])
    #expect(picture[12, 20] == red && picture[0, 0] == .clear)
  }

  @Test func `the same seed gives the same noise for ever`() {
    var generator = SplitMix64(seed: 1)
    // The first number of splitmix64 for seed 1, as its authors' program gives it.
    #expect(generator.next() == 0x910a_2dec_8902_5cc1)
  }

  @Test func `a check records differences from the recipe`() throws {
    let text =
      Self.start + "image 0 0 2 1\n  |rg|\ntrailer\nexpect frames 2\nexpect frame 0\n  |rr|\n"
    let check = FixtureCheck(try Recipe(name: "x", text: text))
    #expect(check.mismatches.count == 2)
  }
}
