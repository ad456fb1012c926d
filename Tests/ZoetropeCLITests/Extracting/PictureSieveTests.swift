import ArgumentParser
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCLI

/// `extract --unique` and `--changed-only`.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct PictureSieveTests {
  /// A picture of 5x4 pixels, in which those at `points` are white.
  private func picture(_ points: (Int, Int)...) -> Bitmap {
    Bitmap.drawn(size: PixelSize(width: 5, height: 4)) { y, bytes in
      for point in points where point.1 == y {
        bytes.storeBytes(of: UInt32.max, toByteOffset: point.0 * 4, as: UInt32.self)
      }
    }
  }

  @Test func `each distinct picture is taken once, whatever lies between`() throws {
    var sieve = PictureSieve(.unique)
    let pictures = [picture(), picture((1, 1)), picture(), picture((1, 1)), picture((2, 1))]
    var taken: [Int] = []
    for (index, bitmap) in pictures.enumerated() where try sieve.takes(bitmap, of: index) {
      taken.append(index)
    }
    #expect(taken == [0, 1, 4])
    #expect(sieve.showings.pictures == [0: 0, 1: 1, 2: 0, 3: 1, 4: 4])
    #expect(sieve.showings.frames == [0: [0, 2], 1: [1, 3], 4: [4]])
    #expect(sieve.showings.changedRects.isEmpty)
  }

  @Test func `pictures with the same bytes and different sizes are different`() throws {
    var sieve = PictureSieve(.unique)
    for (index, size) in [(4, 2), (2, 4), (8, 1), (4, 2)].enumerated() {
      let bitmap = Bitmap.drawn(size: PixelSize(width: size.0, height: size.1)) { _, _ in }
      let isTaken = try sieve.takes(bitmap, of: index)
      #expect(isTaken == (index < 3))
    }
    #expect(sieve.showings.pictures == [0: 0, 1: 1, 2: 2, 3: 0])
  }

  @Test func `a frame is left out while nothing changes`() throws {
    var sieve = PictureSieve(.changed)
    let pictures = [picture(), picture(), picture((1, 1)), picture(), picture()]
    var taken: [Int] = []
    for (index, bitmap) in pictures.enumerated() where try sieve.takes(bitmap, of: index) {
      taken.append(index)
    }
    #expect(taken == [0, 2, 3])
    #expect(sieve.showings.frames == [0: [0, 1], 2: [2], 3: [3, 4]])
    let pixel = PixelRect(x: 1, y: 1, width: 1, height: 1)
    #expect(
      sieve.showings.changedRects
        == [0: PixelRect(x: 0, y: 0, width: 5, height: 4), 2: pixel, 3: pixel])
  }

  private var repeating: SampleGIF {
    var gif = SampleGIF()
    gif.frames = [(0, 4), (1, 4), (1, 4), (0, 4)]
    return gif
  }

  @Test(arguments: [
    ("--unique", ["cat-0000.png", "cat-0001.png"], [0, 1, 1, 0]),
    ("--changed-only", ["cat-0000.png", "cat-0001.png", "cat-0003.png"], [0, 1, 1, 3]),
  ])
  func `the manifest says which frames show a picture`(
    _ option: String, _ names: [String], _ pictures: [Int]
  ) throws {
    try withTool(repeating) { (tool: Tool) throws in
      let arguments = ["extract", "cat.gif", "-o", "o", option, "--manifest", "m"]
      #expect(try tool.run(arguments).status == 0)
      #expect(try tool.list("o") == names)
      let manifest = try tool.read("m")
      let frames = try JSONLine.one(manifest)["frames"]
      try #require(frames.count == 4)
      for (index, picture) in pictures.enumerated() {
        #expect(frames[index]["output"].text == "o/cat-000\(picture).png")
        #expect(frames[index]["same_as"].integer == (picture == index ? nil : picture))
        let showing = frames[index]["shown_by"].elements.map(\.integer)
        #expect(
          showing == (picture == index ? pictures.indices.filter { pictures[$0] == index } : []))
        let rect = frames[index]["changed_rect"].elements.map(\.integer)
        #expect(rect == (option == "--changed-only" && picture == index ? [0, 0, 6, 4] : []))
      }
      // Existing files are kept, and the manifest lists them too.
      #expect(try tool.shell("rm o/cat-0001.png") == 0)
      #expect(try tool.run(arguments + ["--resume"]).status == 0)
      #expect(try tool.list("o") == names)
      #expect(try tool.read("m") == manifest)
    }
  }

  @Test(arguments: [
    "--unique --changed-only", "--unique --fps 5", "--effort slow",
    "--format rgba --effort fast",
  ])
  func `options that contradict each other are refused`(_ options: String) {
    let arguments = options.split(separator: " ").map(String.init)
    #expect(throws: (any Error).self) {
      try ZoetropeCommand.parseAsRoot(["extract", "cat.gif", "-o", "o"] + arguments)
    }
  }

  @Test(arguments: [("fast", EncodingEffort.fast), ("default", .balanced), ("small", .small)])
  func `each word of --effort selects an effort`(_ word: String, _ effort: EncodingEffort) throws {
    let parsed = try ZoetropeCommand.parseAsRoot(["extract", "a", "-o", "o", "--effort", word])
    #expect((parsed as? ExtractCommand)?.request(for: []).form == .png(effort))
  }
}
