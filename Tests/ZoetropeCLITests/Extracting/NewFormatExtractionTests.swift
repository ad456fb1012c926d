import ArgumentParser
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeProcess
import ZoetropeTestSupport

@testable import ZoetropeCLI

/// A format that the tests add is extracted and written like the built-in ones.
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

  @Test func `a new format that can be written is a value of --format`() throws {
    #expect(FarbfeldCodec.isAdded)
    let film = FarbfeldFilm()
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(film.bytes, to: "film.ff")
    let output = "\(tool.directory)/out.film"
    let command = try ConvertCommand.parse([
      "\(tool.directory)/film.ff", "-o", output, "--format", "farbfilm", "--hidden-colors", "-q",
    ])
    #expect(try command.request.run() == .success)
    let image = try AnimatedImage(contentsOf: FilePath(output))
    #expect(image.format == .farbfilm)
    #expect(film.isShown(by: try FrameReader(image).frame(at: 3).bitmap, 3))
    #expect(throws: (any Error).self) {
      try ConvertCommand.parse(["film.ff", "-o", "a", "--format", "farbfeld"])
    }
  }
}
