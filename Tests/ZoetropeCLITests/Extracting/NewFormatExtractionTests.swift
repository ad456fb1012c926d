import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeProcess
import ZoetropeTestSupport

@testable import ZoetropeCLI

/// A format that the tests add is extracted like the built-in ones.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct NewFormatExtractionTests {
  @Test func `a new format is extracted`() throws {
    #expect(FarbfeldCodec.isAdded)
    let film = FarbfeldFilm()
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(film.bytes, to: "film.ff")
    var request = ExtractRequest(inputs: [InputFile("\(tool.directory)/film.ff")])
    request.output = "\(tool.directory)/out"
    request.isQuiet = true
    request.progress = .none
    #expect(try request.run() == .success)
    for index in 0..<film.frameCount {
      let png = try AnimatedImage(
        contentsOf: FilePath("\(tool.directory)/out/film-000\(index).png"))
      #expect(film.isShown(by: try FrameReader(png).frame(at: 0).bitmap, index))
    }
  }
}
