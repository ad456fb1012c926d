import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

@testable import ZoetropePlayer

/// A ``PlayerModel`` with a link that takes everything at once, and a scheduler that delivers the frame
/// it starts at or seeks to.
///
/// Nothing is read, drawn or waited for: time is ``now``.
final class ModelPlayer {
  private(set) var model: PlayerModel
  var now = ContinuousClock.now
  /// Whether the link has room for pictures.
  var hasRoom = true
  /// Everything that was decided.
  private(set) var effects: [PlayerEffect] = []
  /// What covers the picture, as it was last written.
  private(set) var cover = ""
  /// The frame that the scheduler delivers next.
  private var wanted: Int?
  private let bitmap = endingWithoutMemory(
    try Bitmap(size: PixelSize(width: 6, height: 4)) { _, _ in })

  /// Five frames of 2 s, the last of 2.5 s.
  static let slow = frames([200, 200, 200, 200, 250])

  /// Frames with these delays in hundredths of a second.
  static func frames(_ delays: [UInt16]) -> [FrameControl] {
    delays.enumerated().map { index, delay in
      FrameControl(
        index: index, rect: PixelRect(x: 0, y: 0, width: 6, height: 4),
        delay: FrameDelay(centiseconds: delay), disposal: .keep, blend: .over,
        isIndependent: index == 0, isInterlaced: false, palette: .global, byteRange: 0..<0)
    }
  }

  /// A player that shows its first frame.
  init(
    frames: [FrameControl] = ModelPlayer.slow, settings: PlayerSettings = PlayerSettings(),
    progress: StreamProgress? = nil, columns: Int = 120, rows: Int = 14,
    capabilities: TerminalCapabilities = ModelPlayer.capabilities,
    change: (inout PlayRequest) -> Void = { _ in }
  ) {
    let screen = ScreenSize(columns: columns, rows: rows)
    var request = PlayRequest(
      file: PlayedFile(
        name: "cat.gif", size: PixelSize(width: 6, height: 4), format: .gif, frames: frames,
        progress: progress, options: settings.playback),
      holds: settings.holds ?? true)
    change(&request)
    let stage = Stage(
      capabilities: capabilities, settings: settings, mode: settings.mode ?? .blocks(.fine),
      screen: screen, room: CellRect(column: 0, row: 0, columns: columns, rows: rows))
    model = PlayerModel(settings: settings, stage: stage, request: request, at: now)
    handle(.play(request))
  }

  static var capabilities: TerminalCapabilities {
    var capabilities = TerminalCapabilities()
    (capabilities.hasUTF8, capabilities.colors) = (true, .full)
    return capabilities
  }

  /// Tells the model what happens, and carries out what it decides.
  func handle(_ event: PlayerEvent) {
    perform(model.handle(event, at: now))
    if let index = wanted.take(), model.file.frameCount > 0 { show(index) }
  }

  /// Delivers frame `index`, which is due now.
  func show(_ index: Int, play: Int = 0) {
    deliver(index, play: play)
    handle(.room)
    handle(.due)
  }

  /// Delivers frame `index` without showing it.
  func deliver(
    _ index: Int, play: Int = 0, dirtyRect: PixelRect? = nil, after time: Duration = .zero
  ) {
    let frame = ScheduledFrame(
      index: index, play: play, bitmap: bitmap, delay: model.file.frames[index].delay,
      dirtyRect: dirtyRect)
    handle(.frame(frame, due: now + time, direction: model.options.direction))
  }

  /// Types what a terminal sends for keys and the mouse.
  func type(_ text: String) {
    var decoder = InputDecoder()
    for event in decoder.feed(Array(text.utf8)) + decoder.flush() { handle(.input(event)) }
  }

  /// Types, and returns the effects of that alone.
  func effects(of keys: String) -> [PlayerEffect] {
    let count = effects.count
    type(keys)
    return Array(effects.dropFirst(count))
  }

  /// Types, and returns whether the status line then holds every one of `texts`.
  func type(_ keys: String, showing texts: String...) -> Bool {
    type(keys)
    return texts.allSatisfy { status.contains($0) }
  }

  /// Lets time pass.
  func wait(_ time: Duration) {
    now += time
    handle(.time(isIdle: true))
  }

  var status: String { model.statusLine.text(columns: model.stage.screen.columns) }

  private func perform(_ effects: [PlayerEffect]) {
    for effect in effects {
      self.effects.append(effect)
      switch effect {
      case .start(let options, _):
        wanted =
          options.startIndex ?? (options.direction == .forward ? 0 : model.file.frameCount - 1)
      case .seek(let index, _, _): wanted = index
      case .encode: handle(.encoded(Array("picture".utf8)))
      case .redraw(let picture, _):
        handle(.redrawn(picture == nil ? [] : Array("picture".utf8), isWhole: true))
      case .offerRoom: if hasRoom { handle(.room) }
      case .cover(let bytes, _): cover = String(decoding: bytes, as: UTF8.self)
      case .refresh: handle(.refresh)
      case .suspend: handle(.returned(model.stage.screen))
      case .save(_, let index): handle(.message("saved frame \(index)", for: nil))
      case .saveAll(let range): handle(.message("saving \(range.count) frames", for: nil))
      case .pause, .resume, .setRate, .setDirection, .write, .writePicture, .dropOutput: break
      }
    }
  }
}

extension [PlayerEffect] {
  /// The options of each scheduler that was started.
  var starts: [PlaybackOptions] {
    compactMap { if case .start(let options, _) = $0 { options } else { nil } }
  }

  /// The frames that were sought.
  var seeks: [Int] { compactMap { if case .seek(let index, _, _) = $0 { index } else { nil } } }

  /// The pictures that were encoded, not counting those that were drawn anew.
  var pictures: [Picture] {
    compactMap { if case .encode(let picture) = $0 { picture } else { nil } }
  }

  /// Whether each redraw erased the screen.
  var redraws: [Bool] { compactMap { if case .redraw(_, let clears) = $0 { clears } else { nil } } }

  /// The frames that were saved one by one.
  var saves: [Int] { compactMap { if case .save(_, let index) = $0 { index } else { nil } } }

  /// What was written, pictures and status lines.
  var text: String {
    compactMap { effect in
      switch effect {
      case .write(let bytes), .writePicture(let bytes), .cover(let bytes, _):
        String(decoding: bytes, as: UTF8.self)
      default: nil
      }
    }.joined()
  }
}
