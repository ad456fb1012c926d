import Testing
import Zoetrope
import ZoetropeTerminal

@testable import ZoetropePlayer

/// What becomes of output that the terminal has not read when its size changes.
@Suite(.timeLimit(.minutes(10))) struct PlayerResizeTests {
  private func arrived(_ count: Int) -> StreamProgress {
    StreamProgress(
      byteCount: count * 100, frameCount: count, announcedFrameCount: nil, ending: nil)
  }

  /// Returns whether output is dropped because of `event`.
  private func drops(_ player: ModelPlayer, _ event: PlayerEvent) -> Bool {
    let count = player.effects.count
    player.handle(event)
    return player.effects.dropFirst(count).contains {
      if case .dropOutput = $0 { true } else { false }
    }
  }

  @Test func `the bytes that set the terminal up are not dropped before the first picture`() {
    let player = ModelPlayer(frames: [], progress: arrived(0))
    #expect(!drops(player, .resized(ScreenSize(columns: 80, rows: 24))))
    #expect(!drops(player, .resized(ScreenSize(columns: 70, rows: 24))))
    player.handle(.arrived(ModelPlayer.slow, playCount: .once, arrived(5)))
    player.show(0)
    #expect(drops(player, .resized(ScreenSize(columns: 60, rows: 24))))
  }

  @Test func `a size that changed while the process was stopped drops nothing`() {
    let player = ModelPlayer()
    player.hasRoom = false
    #expect(!drops(player, .returned(ScreenSize(columns: 80, rows: 24))))
    #expect(player.model.stage.screen.columns == 80 && player.model.wantsRedraw)
    #expect(!drops(player, .resized(ScreenSize(columns: 70, rows: 24))))
    player.handle(.room)
    #expect(drops(player, .resized(ScreenSize(columns: 60, rows: 24))))
  }
}
