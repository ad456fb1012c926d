import ArgumentParser
import Testing

@testable import ZoetropeCLI

@Suite(.timeLimit(.minutes(1))) struct QuickArgumentsTests {
  @Test(arguments: [
    "info a.gif", "info - b.png --json", "info --frames --metadata a --timing 20:100",
    "info a --damage strict --limits none --decoder reference", "info a --timing ffmpeg",
    "extract a -o -", "extract a b --output out/ --format rgba", "extract a -o x --force --raw",
    "extract a -o x --frames 0,3-7,-1,::2 --resume --quiet", "extract - -o %04d.png",
  ])
  func `a plain list means the same as ArgumentParser reads in it`(_ line: String) throws {
    let arguments = line.split(separator: " ").map(String.init)
    let quick = try #require(QuickArguments.command(arguments))
    let parsed = try ZoetropeCommand.parseAsRoot(arguments)
    if let info = parsed as? InfoCommand {
      #expect(quick == .info(info.request))
    } else {
      let extract = try #require(parsed as? ExtractCommand)
      #expect(quick == .extract(extract.request))
    }
  }

  @Test(arguments: [
    "info", "info --help", "info a --jso", "info a --timing", "info a --timing nope", "info a -x",
    "info a --json --json", "extract a", "extract a -o x --force --resume", "extract a -o -x",
    "extract a -o x --frames ,", "extract a -o x --output y", "check a", "--version", "info a -- b",
    "extract a -o x --frames=-1",
  ])
  func `every other list is left to ArgumentParser`(_ line: String) {
    let arguments = line.split(separator: " ").map(String.init)
    #expect(QuickArguments.command(arguments) == nil)
  }
}
