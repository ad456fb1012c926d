import TestRunning
import Testing
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal
import ZoetropeTestSupport

@testable import ZoetropePlayer

/// What becomes of frames, time and the screen, without a terminal.
@Suite(.timeLimit(.minutes(10)), .computes) struct PlayerModelTests {
  private func settings(_ change: (inout PlayerSettings) -> Void) -> PlayerSettings {
    var settings = PlayerSettings()
    change(&settings)
    return settings
  }

  // MARK: Frames

  @Test func `a frame is encoded when it comes and written when it is due`() {
    let player = ModelPlayer()
    player.deliver(1, after: .milliseconds(15))
    #expect(player.model.wantsRoom && !player.model.isDue(at: player.now))
    player.handle(.room)
    #expect(player.effects.pictures.last?.index == 1)
    #expect(player.model.wakeTime(isIdle: true) == player.now + .milliseconds(15))
    player.handle(.due)
    #expect(player.model.position == 0)
    player.now += .milliseconds(15)
    player.handle(.due)
    #expect(player.model.position == 1 && player.model.statistics.shown == 2)
  }

  @Test func `a frame that found no room is replaced by the next one that is due`() {
    let player = ModelPlayer()
    let changes = [
      PixelRect(x: 0, y: 0, width: 1, height: 1), PixelRect(x: 3, y: 2, width: 1, height: 1),
    ]
    player.deliver(1, dirtyRect: changes[0])
    #expect(!player.model.takes(due: player.now + .milliseconds(1), at: player.now))
    #expect(!player.model.takes(due: nil, at: player.now))
    #expect(player.model.takes(due: player.now, at: player.now))
    player.deliver(2, dirtyRect: changes[1])
    #expect(player.model.statistics.dropped == 1)
    player.handle(.room)
    // The picture may differ where either frame changed it.
    #expect(player.effects.pictures.last?.index == 2)
    #expect(player.effects.pictures.last?.changed == changes[0].union(changes[1]))
    // An encoded one is not replaced.
    #expect(!player.model.takes(due: player.now, at: player.now))
  }

  @Test(arguments: [LatePolicy.stretch, .catchUp(maximumRate: 2)])
  func `no frame is replaced where every one is to be shown`(_ policy: LatePolicy) {
    let player = ModelPlayer(settings: settings { $0.playback.latePolicy = policy })
    player.deliver(1)
    #expect(!player.model.takes(due: player.now, at: player.now))
  }

  @Test func `a frame that its encoder gave up is encoded again`() {
    let player = ModelPlayer()
    player.deliver(1)
    var model = player.model
    _ = model.handle(.room, at: player.now)
    _ = model.handle(.encoded(nil), at: player.now)
    let due = model.handle(.due, at: player.now)
    #expect(model.wantsRoom && due.isEmpty)
    let again = model.handle(.room, at: player.now)
    #expect(again.pictures.map(\.index) == [1])
  }

  @Test func `a seek forgets frames that were delivered early, and redraws everywhere`() {
    let player = ModelPlayer()
    player.deliver(1, after: .milliseconds(15))
    player.handle(.room)
    player.type("4g")
    #expect(player.model.position == 3)
    // The encoder took frame 1 for shown, so it starts again, from what is on the screen.
    #expect(player.effects.redraws == [false])
    player.handle(.room)
    #expect(player.effects.pictures.map(\.index) == [0, 1, 3])
    #expect(player.effects.pictures.last?.changed == nil)
  }

  @Test func `frames pass under the help and are drawn when it is closed`() {
    let player = ModelPlayer()
    player.type("?")
    let count = player.effects.pictures.count
    player.show(1)
    player.show(2)
    #expect(player.model.position == 2 && player.effects.pictures.count == count)
    player.type("\u{1B}")
    #expect(player.effects.redraws == [true])
    player.show(3)
    #expect(player.effects.pictures.last?.changed == PixelRect(x: 0, y: 0, width: 6, height: 4))
  }

  @Test func `keys that come faster than pictures go make one redraw`() {
    let player = ModelPlayer()
    player.hasRoom = false
    player.type("++cv-f")
    #expect(player.effects.redraws.isEmpty && player.model.wantsRedraw)
    player.handle(.room)
    player.handle(.room)
    #expect(player.effects.redraws == [true] && !player.model.wantsRedraw)
  }

  @Test func `a redraw that was given up is requested again`() {
    let player = ModelPlayer()
    var model = player.model
    _ = model.handle(.returned(model.stage.screen), at: player.now)
    _ = model.handle(.room, at: player.now)
    #expect(!model.wantsRedraw)
    _ = model.handle(.redrawn([], isWhole: false), at: player.now)
    #expect(model.wantsRedraw)
  }

  @Test func `a redraw is one synchronized update, status line and all`() {
    var capabilities = ModelPlayer.capabilities
    capabilities.hasSynchronizedOutput = true
    let player = ModelPlayer(capabilities: capabilities)
    let text = player.effects(of: "\u{C}").text
    #expect(text.hasPrefix("\u{1B}[?2026h") && text.hasSuffix("\u{1B}[?2026l"))
    #expect(text.contains("picture\u{1B}7") && text.contains("cat.gif"))
    #expect(text.split(separator: "\u{1B}[?2026").count == 2)
  }

  // MARK: Endings

  private func ended(_ settings: PlayerSettings = PlayerSettings()) -> ModelPlayer {
    let player = ModelPlayer(settings: settings)
    player.show(4)
    player.handle(.ended(.finished))
    player.handle(.refresh)
    return player
  }

  @Test func `the last frame stays for its duration, and then until a key is pressed`() {
    let player = ended()
    #expect(player.model.wakeTime(isIdle: true) == player.now + .milliseconds(2500))
    player.wait(.milliseconds(2499))
    #expect(!player.model.motion.isEnded)
    player.wait(.milliseconds(1))
    #expect(player.status.hasPrefix("■") && player.status.hasSuffix("q quits, space plays again"))
    #expect(player.model.outcome == nil)
    let effects = player.effects(of: " ")
    #expect(effects.starts.map(\.startIndex) == [0] && player.status.hasPrefix("▸"))
  }

  @Test func `a file that is not held is followed by the next, but not while the help is read`() {
    let player = ended(settings { $0.holds = false })
    player.type("?")
    player.wait(.seconds(60))
    #expect(player.model.outcome == nil && player.model.wakeTime(isIdle: true) == nil)
    player.type("\u{1B}")
    player.wait(.zero)
    #expect(player.model.outcome == .next)
  }

  @Test func `an inline picture is written before the file ends`() {
    let player = ended(
      settings {
        $0.isInline = true
        $0.holds = false
      })
    player.now += .seconds(3)
    player.handle(.time(isIdle: false))
    #expect(player.model.outcome == nil)
    player.handle(.time(isIdle: true))
    #expect(player.model.outcome == .next)
  }

  @Test func `a jump after the end starts over from there`() {
    let player = ended()
    player.wait(.seconds(3))
    #expect(player.type("2g", showing: "▸", "2/5"))
    #expect(!player.model.motion.isEnded)
    player.wait(.seconds(60))
    #expect(player.model.outcome == nil)
  }

  @Test func `going backwards after the end takes a new scheduler`() {
    let player = ended()
    player.wait(.seconds(3))
    let effects = player.effects(of: "r")
    #expect(effects.starts.map(\.direction) == [.backward])
    #expect(effects.starts.map(\.startIndex) == [4])
  }

  @Test func `reduced motion shows one frame, until motion is requested`() {
    let player = ModelPlayer(settings: settings { $0.playback.reducesMotion = true })
    #expect(player.effects.starts.map(\.reducesMotion) == [true])
    player.handle(.ended(.finished))
    player.wait(.seconds(2))
    #expect(player.status.hasSuffix("space plays again"))
    #expect(player.effects(of: " ").starts.map(\.reducesMotion) == [false])
  }

  @Test func `the time of --duration ends playing, whatever is shown`() {
    let player = ModelPlayer(settings: settings { $0.wallTime = .seconds(5) })
    player.type(" ?")
    #expect(player.model.wakeTime(isIdle: false) == player.now + .seconds(5))
    player.wait(.milliseconds(4999))
    #expect(player.model.outcome == nil)
    player.wait(.milliseconds(1))
    #expect(player.model.outcome == .quit)
  }

  @Test func `a frame that cannot be decoded ends the file`() {
    let player = ModelPlayer()
    player.handle(.ended(.failed(AnimatedImageError(.malformed, "bad code"))))
    guard case .failed(let failure)? = player.model.outcome else {
      Issue.record("\(String(describing: player.model.outcome))")
      return
    }
    #expect(failure.file == "cat.gif" && failure.message.contains("bad code"))
  }

  @Test func `a signal ends it in any state`() {
    for keys in ["", " ", "?", "q"] {
      let player = ModelPlayer()
      player.type(keys)
      player.handle(.ending(.hungUp))
      #expect(player.model.outcome == .ended(.hungUp))
    }
  }

  @Test func `playing waits while the process is stopped`() {
    func names(_ effects: [PlayerEffect]) -> [String] {
      effects.compactMap {
        switch $0 {
        case .pause: "pause"
        case .suspend: "suspend"
        case .resume: "resume"
        default: nil
        }
      }
    }
    let player = ModelPlayer()
    #expect(names(player.effects(of: "\u{1A}")) == ["pause", "suspend", "resume"])
    player.type(" ")
    #expect(names(player.effects(of: "\u{1A}")) == ["suspend"])
    #expect(player.status.hasPrefix("‖"))
  }

  @Test func `a single picture is over once it is written`() {
    let player = ModelPlayer(
      settings: settings {
        $0.isStill = true
        $0.isInline = true
      })
    #expect(player.model.outcome == nil)
    player.handle(.written)
    #expect(player.model.outcome == .next)
  }

  // MARK: Other files

  @Test func `keys wait for the file that is being opened, except those that end the wait`() {
    let player = ModelPlayer {
      $0.files = FileList(entries: [.init(name: "a"), .init(name: "b")], current: 0)
    }
    player.handle(.ending(.success))
    player.handle(.opening(name: "pipe.gif", hasNextFile: false))
    #expect(player.model.outcome == nil && player.status == "opening pipe.gif")
    // Most files are open before anybody could read this.
    #expect(player.model.wakeTime(isIdle: true) == player.now + .milliseconds(150))
    player.type(" 3.")
    #expect(player.model.position == 0 && player.model.outcome == nil)
    var model = player.model
    let typed = model.takeTyped()
    #expect(typed.count == 3)
    player.type("n")
    #expect(player.model.outcome == nil && player.status == "the last file")
    player.type("N")
    #expect(player.model.outcome == .skip(-1))
  }

  @Test func `the next file is seen whole and plays as the settings say`() {
    let player = ModelPlayer()
    player.type(" ]++?")
    player.handle(.ending(.success))
    player.handle(.opening(name: "b.gif", hasNextFile: false))
    player.handle(.opened)
    var request = player.model.request
    request.startIndex = 2
    player.handle(.play(request))
    let options = player.effects.starts.last
    #expect(options?.rate == 1 && options?.startIndex == 2)
    #expect(player.model.overlay == nil && player.model.stage.viewport == Viewport())
    #expect(player.status.hasPrefix("▸") && player.status.contains("3/5"))
  }

  // MARK: Streams

  private func arrived(_ count: Int, ending: StreamEnding? = nil) -> StreamProgress {
    StreamProgress(
      byteCount: count * 100, frameCount: count, announcedFrameCount: nil, ending: ending)
  }

  @Test(arguments: Array(" .,hlgG[]{}rbLfcv+-0io?nNadDmtsS\t") + ["\u{7F}", "\r", "\u{C}"])
  func `keys do no harm before the first frame`(_ key: Character) {
    let player = ModelPlayer(frames: [], progress: arrived(0))
    #expect(player.status.contains("0/0+"))
    player.type(String(key))
    player.type(String(key))
    #expect(player.model.outcome == nil && player.model.position == 0)
    player.type("\u{3}")
    #expect(player.model.outcome == .ended(.interrupted))
  }

  @Test func `the status line counts what has arrived`() {
    let player = ModelPlayer(frames: [], progress: arrived(0))
    let frames = ModelPlayer.slow
    player.handle(
      .arrived(Array(frames[..<2]), playCount: .once, arrived(2)))
    player.show(0)
    #expect(player.status.contains("1/2+ 0.00/4.00 s") && player.status.contains("200 B received"))
    player.handle(
      .arrived(Array(frames[2...]), playCount: .finite(3), arrived(5, ending: .complete)))
    #expect(player.status.contains("1/5 0.00/10.50 s") && player.status.contains("loop 1/3"))
    #expect(!player.status.contains("received"))
    #expect(player.type("G", showing: "5/5"))
    player.handle(.arrived([], playCount: .finite(3), arrived(5, ending: .truncated)))
    #expect(player.status.contains("cut short"))
  }

  // MARK: The screen

  @Test func `a resize drops pending output and redraws everything`() {
    let player = ModelPlayer()
    player.deliver(1, after: .milliseconds(15))
    player.handle(.room)
    let count = player.effects.count
    player.handle(.resized(ScreenSize(columns: 80, rows: 24)))
    let effects = Array(player.effects.dropFirst(count))
    guard case .dropOutput? = effects.first else {
      Issue.record("\(effects)")
      return
    }
    #expect(effects.redraws == [true])
    #expect(player.model.stage.room == CellRect(column: 0, row: 0, columns: 80, rows: 22))
    #expect(effects.text.contains("\u{1B}[24;1H"))
    // The frame that was encoded for the old size is encoded anew.
    #expect(!player.model.isDue(at: player.now + .seconds(1)) && player.model.wantsRoom)
  }

  @Test func `an inline picture keeps its rows on a smaller screen, except the shell's row`() {
    let player = ModelPlayer(settings: settings { $0.isInline = true }, columns: 80, rows: 24)
    player.handle(.resized(ScreenSize(columns: 40, rows: 10)))
    #expect(player.model.stage.room == CellRect(column: 0, row: 0, columns: 40, rows: 9))
  }

  @Test func `the status line changes with keys, and by itself four times a second at most`() {
    let player = ModelPlayer()
    player.type("i")
    var count = player.effects.count
    for index in 1...4 {
      player.now += .milliseconds(50)
      player.show(index)
    }
    #expect(!player.effects.dropFirst(count).map { $0 }.text.contains("/5"))
    #expect(player.model.wakeTime(isIdle: true) == player.now + .milliseconds(50))
    count = player.effects.count
    player.wait(.milliseconds(50))
    #expect(player.effects.dropFirst(count).map { $0 }.text.contains("5/5"))
    // Nothing is written where nothing has changed, and nothing wakes it.
    count = player.effects.count
    player.wait(.seconds(10))
    player.handle(.refresh)
    #expect(player.effects.count == count && player.model.wakeTime(isIdle: true) == nil)
  }

  @Test func `a message disappears by itself, or with the next key`() {
    let player = ModelPlayer()
    player.handle(.message("skipped b.gif", for: .seconds(5)))
    player.handle(.refresh)
    #expect(player.status == "skipped b.gif")
    player.wait(.seconds(5))
    #expect(player.status.contains("cat.gif") && player.model.wakeTime(isIdle: true) == nil)
    player.handle(.message("skipped b.gif", for: .seconds(5)))
    player.type(".")
    #expect(player.status.contains("2/5"))
  }

  @Test(arguments: 0..<40)
  func `no sequence of events breaks the player`(_ seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    let keys = Array(" .,hlgG[]{}rbLfcv+-0io?nNadDmtsS\t123\u{7F}\r\u{C}\u{1A}jk")
    let isStream = number(0...2) == 0
    var settings = PlayerSettings()
    settings.holds = number(0...1) == 0
    settings.isInline = number(0...3) == 0
    settings.playback.direction = number(0...3) == 0 ? .backward : .forward
    let player = ModelPlayer(
      frames: isStream ? [] : ModelPlayer.slow, settings: settings,
      progress: isStream ? arrived(0) : nil)
    for step in 0..<1500 {
      player.hasRoom = number(0...3) > 0
      switch number(0...9) {
      case 0...4: player.type(String(keys[number(0...keys.count - 1)]))
      case 5:
        let count = player.model.file.frameCount
        let now = player.now
        if count > 0, player.model.takes(due: now, at: now) {
          player.deliver(number(0...count - 1))
        }
      case 6: player.handle(.room)
      case 7: player.handle(.due)
      case 8: player.wait(.milliseconds(number(0...400)))
      default:
        switch number(0...5) {
        case 0:
          player.handle(.resized(ScreenSize(columns: number(1...120), rows: number(1...40))))
        case 1 where isStream && player.model.file.frameCount < 40:
          let frames = ModelPlayer.frames([UInt16(number(0...9))])
          player.handle(
            .arrived(
              frames, playCount: .indefinite, arrived(player.model.file.frameCount + 1)))
        case 2: player.handle(.ended(.finished))
        case 3: player.handle(.encoded(nil))
        default: player.type("\u{1B}[<\(number(0...66));\(number(1...120));\(number(1...40))M")
        }
      }
      let model = player.model
      #expect(model.position >= 0 && model.position < max(model.file.frameCount, 1), "step \(step)")
      #expect(!model.wantsRoom || model.overlay == nil)
      #expect(
        TerminalText.columns(of: player.status) <= model.stage.screen.columns, "step \(step)")
      // An event that was handled does not end the next wait immediately.
      player.wait(.zero)
      if player.model.outcome == nil, player.model.overlay == nil, !settings.isInline {
        #expect(
          player.model.wakeTime(isIdle: false).map { $0 > player.now } ?? true, "step \(step)")
      }
      if player.model.outcome != nil { player.handle(.play(player.model.request)) }
    }
  }
}
