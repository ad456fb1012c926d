import ArgumentParser
import TestRunning
import Testing
import Zoetrope
import ZoetropePlayer
import ZoetropeProcess

@testable import ZoetropeCLI
@testable import ZoetropePlayer

/// How options of `play` configure the model, without a terminal.
@Suite(.timeLimit(.minutes(10)), .computes) struct PlayerSettingsTests {
  private func player(_ arguments: [String]) throws -> ModelPlayer {
    let command = try #require(
      try ZoetropeCommand.parseAsRoot(["play", "cat.gif"] + arguments) as? PlayCommand)
    let settings = command.settings(nil)
    let gif = SampleGIF(frames: [(0, 200), (1, 200), (2, 200), (0, 200), (1, 250)])
    let image = OpenedInput.whole(try AnimatedImage(bytes: gif.bytes))
    return ModelPlayer(frames: image.frames, settings: settings) {
      $0.startIndex = settings.start?.index(in: image, policy: settings.playback.delayPolicy)
    }
  }

  @Test(arguments: [
    (["--start", "2"], "3/5 4.00/10.50 s"), (["--start", "4.1s"], "3/5"), (["--start=-1"], "5/5"),
    (["--speed", "2"], "2.00x"), (["--reverse"], "◂ cat.gif"), (["--loops", "3"], "loop 1/3"),
    (["--loops", "inf"], "loop 1 "), (["--delay", "1000"], "/5.00 s"),
    (["--protocol", "half"], "| half"), (["--protocol", "braille"], "| braille"),
    (["--timing", "5000:7000"], "/35.00 s"),
  ])
  func `the status line shows the requested settings`(_ arguments: [String], _ text: String) throws
  {
    let player = try player(arguments)
    #expect(player.status.contains(text), "\(player.status)")
  }

  /// Options, and whether the last frame stays; nil leaves it to the number of files.
  private static let holds: [([String], Bool?)] = [
    ([], nil), (["--once"], false), (["--loops", "1"], false), (["--loops", "3"], false),
    (["--loops", "inf"], nil), (["--loops", "file"], nil), (["--loops", "1", "--hold"], true),
    (["--once", "--hold"], true), (["--inline"], false), (["--inline", "--hold"], true),
    (["--no-motion"], true), (["--no-motion", "--loops", "1"], true),
    (["--no-motion", "--inline"], false),
  ]

  @Test(arguments: holds)
  func `a number of plays ends the player, unless it is to hold`(
    _ arguments: [String], _ holds: Bool?
  ) throws {
    let player = try player(arguments)
    #expect(player.model.settings.holds == holds)
    player.show(4)
    player.handle(.ended(.finished))
    player.wait(.seconds(3))
    #expect(player.model.outcome == (holds == false ? .next : nil))
    #expect(player.model.motion.isEnded == (holds != false))
  }
}
