import Testing
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal
import ZoetropeTestSupport

@testable import ZoetropePlayer

/// What keys do, without a terminal.
@Suite(.timeLimit(.minutes(10))) struct PlayerModelKeyTests {
  private func paused(
    _ settings: PlayerSettings = PlayerSettings(), rows: Int = 14
  ) -> ModelPlayer {
    let player = ModelPlayer(settings: settings, rows: rows)
    player.type(" ")
    return player
  }

  /// Keys, and what the status line then says.
  private static let steps = [
    (".", "2/5 2.00/10.50 s"), ("3.", "5/5"), ("l", "1/5"), (",", "5/5"), ("2h", "3/5"),
    ("G", "5/5"), ("g", "1/5"), ("3g", "3/5"), ("4G", "4/5"), ("\u{1B}[D", "3/5"),
    ("\u{1B}[C\u{1B}[C", "5/5"), ("\u{1B}[H", "1/5"), ("\u{1B}[F", "5/5"), ("\u{1B}[B", "2/5"),
    ("\u{1B}[A", "4/5"), ("99g", "5/5"), ("\u{1B}[1;2D", "4/5"), ("\u{1B}[1;2C", "5/5"),
  ]

  @Test func `frames are stepped through and jumped to`() {
    let player = paused()
    for (keys, text) in Self.steps {
      #expect(player.type(keys, showing: "‖", text), "\(keys): \(player.status)")
    }
    #expect(player.effects.seeks.last == 4 && player.effects.starts.count == 1)
  }

  @Test func `a step pauses, and a seek goes on playing`() {
    let player = ModelPlayer()
    #expect(player.type("3g", showing: "▸", "3/5"))
    #expect(player.type(".", showing: "‖", "4/5"))
    let effects = player.effects(of: " ")
    guard case .resume? = effects.first else {
      Issue.record("\(effects)")
      return
    }
    #expect(player.status.hasPrefix("▸"))
  }

  @Test func `speed changes within its limits`() {
    let player = paused()
    #expect(player.type("]", showing: "1.10x"))
    #expect(player.type("}", showing: "2.20x"))
    #expect(player.type("{[", showing: "1.00x"))
    #expect(player.type("]", showing: "1.10x"))
    #expect(player.type("\u{7F}", showing: "1.00x"))
    #expect(player.type("}}}}}}}", showing: "20.00x"))
    #expect(player.type("{{{{{{{{{{{{", showing: "0.05x"))
    #expect(player.effects.starts.count == 1)
  }

  @Test func `plays, bouncing and direction change`() {
    let player = paused()
    #expect(player.type("L", showing: "plays: once"))
    #expect(player.effects.starts.last?.playCount == .once)
    #expect(player.type("L", showing: "plays: forever"))
    #expect(player.type("L", showing: "plays: as in the file"))
    #expect(player.effects.starts.count == 4 && player.effects.starts.last?.playCount == nil)
    #expect(player.type("r ", showing: "◂", "-1.00x"))
    #expect(player.type("r", showing: "▸"))
    #expect(player.type("b", showing: "bounce: on"))
    #expect(player.effects.starts.last?.bounces == true)
    #expect(player.type("b", showing: "bounce: off"))
  }

  @Test func `a new scheduler goes on at the frame, the speed and the direction of the old one`() {
    let player = paused()
    player.type("4g}r")
    let effects = player.effects(of: "L")
    let options = effects.starts.first
    #expect(options?.startIndex == 3 && options?.rate == 2 && options?.direction == .backward)
    guard case .start(_, let isPaused)? = effects.first else {
      Issue.record("\(effects)")
      return
    }
    #expect(isPaused)
  }

  @Test func `the picture is drawn in other ways`() {
    let player = paused()
    #expect(player.type("D", showing: "6x4+0+0 keep over"))
    #expect(player.model.stage.view.isStored)
    #expect(!player.type("D", showing: "keep over"))
    #expect(player.type("d", showing: "6x4+0+0 "))
    #expect(player.model.stage.view.isOutlined)
    player.type("d")
    #expect(player.type("f", showing: "fit: fit"))
    #expect(player.type("fffff", showing: "fit: stretch"))
    #expect(player.type("f", showing: "fit: auto"))
    for name in ["checker", "black", "white", "terminal"] {
      #expect(player.type("c", showing: "background: \(name)"))
    }
    #expect(player.type("v", showing: "drawing: "))
    #expect(player.type("i", showing: "B/frame"))
    #expect(player.type("i", showing: "1.00x loop 1"))
    // Each takes a new encoder.
    #expect(player.effects.redraws.count == 4 + 7 + 4 + 1)
    #expect(player.effects.redraws.allSatisfy { $0 })
  }

  @Test func `zooming redraws the picture, and moves it where there is more to see`() {
    let player = paused()
    #expect(player.type("\u{1B}[1;3C", showing: "the whole picture is visible; + zooms in"))
    #expect(player.effects.redraws.isEmpty)
    #expect(player.type("+", showing: "zoom 125 %"))
    #expect(player.effects.redraws.count == 1)
    player.type("+++++++\u{1B}[1;3C")
    #expect(player.model.stage.viewport.x > 0)
    // The place stays, so the screen is not erased.
    #expect(player.effects.redraws.last == false)
    let count = player.effects.redraws.count
    player.type(String(repeating: "\u{1B}[1;3C", count: 40))
    #expect(player.model.stage.viewport.x == 1 && player.effects.redraws.count < count + 20)
    #expect(!player.type("0", showing: "zoom"))
  }

  @Test func `delays are shown as bars`() {
    let player = paused()
    #expect(player.type("t", showing: "1/5 2000 ms │▆▆▆█"))
    #expect(player.type("G", showing: "5/5 2500 ms ▆▆▆▆│"))
    #expect(player.type("t", showing: "cat.gif 6x4 GIF"))
  }

  @Test func `a section is repeated until it is taken away`() {
    let player = paused()
    #expect(player.type("2ga", showing: "section from frame 2"))
    #expect(player.type("i", showing: "section 2-"))
    #expect(player.type("4ga", showing: "section: frames 2 to 4"))
    #expect(player.effects.starts.last?.range == 1..<4)
    #expect(player.effects.starts.last?.playCount == .indefinite)
    #expect(player.type(".", showing: "2/5", "section 2-4"))
    #expect(player.type("G", showing: "4/5"))
    #expect(player.type(".", showing: "2/5"))
    #expect(player.type("g", showing: "2/5"))
    #expect(player.type("S", showing: "S again to save 3 frames"))
    #expect(player.type("S", showing: "saving 3 frames"))
    #expect(player.type("a", showing: "section off"))
    #expect(player.effects.starts.last?.range == nil)
    #expect(player.type("G", showing: "5/5"))
    #expect(player.type("S", showing: "S again to save 5 frames"))
    #expect(player.type(".", showing: "1/5"))
    #expect(player.type("S", showing: "S again to save 5 frames"))
    #expect(player.type("S", showing: "saving 5 frames"))
    // The second end may come before the first.
    #expect(player.type("Ga2ga", showing: "section: frames 2 to 5"))
  }

  @Test func `motion stops at the first frame and goes on`() {
    let player = paused()
    #expect(player.type("4gm", showing: "motion off"))
    #expect(player.type("i", showing: "‖", "1/5"))
    #expect(player.type("m", showing: "motion on"))
    #expect(player.type("i", showing: "▸"))
    #expect(player.type("m ", showing: "▸"))
    #expect(!player.model.motion.isOff)
  }

  @Test func `a frame is saved once it is shown`() {
    let player = paused()
    #expect(player.type("3gs", showing: "saved frame 2"))
    #expect(player.effects.saves == [2])
    // A seek whose frame has not come yet.
    var model = player.model
    var effects = model.handle(.input(.key(KeyEvent(.end))), at: player.now)
    effects += model.handle(.input(.key(KeyEvent(.character("s")))), at: player.now)
    #expect(effects.saves.isEmpty && model.savesTarget)
    let frame = ScheduledFrame(index: 4, bitmap: Bitmap.drawn(size: model.file.size) { _, _ in })
    _ = model.handle(.frame(frame, due: player.now, direction: .forward), at: player.now)
    _ = model.handle(.room, at: player.now)
    _ = model.handle(.encoded([]), at: player.now)
    let shown = model.handle(.due, at: player.now)
    #expect(shown.saves == [4])
    #expect(!model.savesTarget)
  }

  @Test(arguments: ["s", "S"])
  func `a key that saves says so if there is nothing to save`(_ key: String) {
    let player = ModelPlayer(
      frames: [],
      progress: StreamProgress(
        byteCount: 0, frameCount: 0, announcedFrameCount: nil, ending: nil))
    #expect(player.type(key, showing: "no frame to save yet"))
    #expect(player.effects.saves.isEmpty && !player.model.savesTarget)
  }

  @Test func `edits of images are offered only if the terminal confirmed them`() {
    var stage = ModelPlayer().model.stage
    let modes = stage.modes(including: .kitty)
    #expect(modes.contains(.graphics(.kittyImages)) && !modes.contains(.kitty))
    stage.capabilities.hasKittyEdits = true
    #expect(stage.modes(including: nil).contains(.kitty))
  }

  @Test func `the help covers the picture until a key is pressed`() {
    let player = paused(rows: 24)
    let effects = player.effects(of: "?")
    guard case .cover(_, true)? = effects.first else {
      Issue.record("\(effects)")
      return
    }
    let help = player.cover
    for key in HelpPage.sections.flatMap(\.entries).flatMap({ $0.keys.split(separator: " ") }) {
      #expect(help.contains(key), "\(key)")
    }
    // Ctrl-L draws it again, and nothing is drawn over it.
    let again = player.effects(of: "\u{C}")
    #expect(again.text == help && player.cover == help)
    #expect(player.effects(of: "x").redraws == [true])
    #expect(player.type("i", showing: "1/5"))
  }

  @Test func `a small screen takes several pages of help`() {
    let player = paused(rows: 10)
    player.type("?")
    let first = player.cover
    player.type("x")
    #expect(player.cover != first && player.model.overlay != nil)
    player.type("\u{1B}")
    #expect(player.model.overlay == nil && player.model.outcome == nil)
  }

  @Test(arguments: [
    ("q", PlayerOutcome.quit), ("\u{1B}", .quit), ("\u{3}", .ended(.interrupted)),
    ("\u{1C}", .ended(.quit)), ("n", .skip(1)), (">", .skip(1)), ("\r", .skip(1)),
    ("\u{1B}[6~", .skip(1)), ("N", .skip(-1)), ("<", .skip(-1)), ("\u{1B}[5~", .skip(-1)),
    ("\tj\r", .choose(2)), ("\tk\r", .choose(0)), ("\tG\r", .choose(2)),
  ])
  func `keys end a file`(_ keys: String, _ outcome: PlayerOutcome) {
    let player = ModelPlayer { request in
      request.files = FileList(
        entries: ["a.gif", "b.gif", "c.gif"].map { .init(name: $0) }, current: 1)
      request.hasNextFile = true
    }
    #expect(player.status.contains("[2/3]"))
    player.type(keys)
    #expect(player.model.outcome == outcome)
    // What follows is for the next file.
    player.type(".")
    #expect(player.model.position == 0)
    var model = player.model
    let typed = model.takeTyped()
    #expect(typed == [.key(KeyEvent(.character(".")))])
    let rest = model.takeTyped()
    #expect(rest.isEmpty)
  }

  @Test func `one key press too many does not end the player`() {
    let alone = ModelPlayer()
    for key in ["n", "N", "\t"] { #expect(alone.type(key, showing: "the only file")) }
    let last = ModelPlayer {
      $0.files = FileList(entries: [.init(name: "a.gif"), .init(name: "b.gif")], current: 1)
    }
    #expect(last.type("n", showing: "the last file"))
    #expect(last.model.outcome == nil)
    // The file that plays can be chosen too.
    last.type("\t\r")
    #expect(last.model.outcome == nil && last.model.overlay == nil)
  }

  @Test func `the mouse seeks, zooms and pauses`() {
    let player = ModelPlayer(columns: 100, rows: 24)
    player.type(" ")
    // Rows and columns are counted from 1: the bar is in row 23.
    #expect(player.type("\u{1B}[<0;50;23M", showing: "3/5"))
    #expect(player.type("\u{1B}[<32;95;3M", showing: "5/5"))
    #expect(player.type("\u{1B}[<0;95;3m\u{1B}[<65;10;23M", showing: "4/5"))
    #expect(player.type("\u{1B}[<64;10;10M", showing: "zoom 125 %"))
    #expect(player.type("\u{1B}[<2;10;10M", showing: "▸"))
    player.type("?")
    player.type("\u{1B}[<0;10;10M")
    #expect(player.model.overlay == nil)
  }

  @Test func `the list of files follows the mouse`() {
    let player = ModelPlayer {
      $0.files = FileList(
        entries: (0..<30).map { .init(name: "\($0).gif") }, current: 0)
    }
    player.type("\t\u{1B}[<65;1;1M\u{1B}[<0;1;5M")
    #expect(player.cover.contains("\u{1B}[7m   5  4.gif"))
    player.type("\r")
    #expect(player.model.outcome == .choose(4))
  }
}
