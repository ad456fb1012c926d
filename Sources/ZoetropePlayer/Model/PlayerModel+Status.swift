import Zoetrope
import ZoetropeTerminal

extension PlayerModel {
  /// Writes the status line and the progress bar, but no picture.
  mutating func refresh(now: Bool, at instant: ContinuousClock.Instant) -> [PlayerEffect] {
    changedStatus(now: now, at: instant).map { [.write($0)] } ?? []
  }

  /// Returns the bytes that update the status line and the progress bar, or nil if no update is due or nothing changed.
  /// Unless `now` is true, there are at most four updates per second.
  mutating func changedStatus(now: Bool, at instant: ContinuousClock.Instant) -> [UInt8]? {
    let plan = plan
    guard let statusRow = plan.statusRow, overlay == nil, outcome == nil else {
      // A due time in the past would end every wait immediately, so it is removed.
      status.due = nil
      return nil
    }
    guard status.mayChange(now: now, at: instant) else { return nil }
    let columns = stage.screen.columns
    let hasUTF8 = stage.capabilities.hasUTF8
    let line = statusLine.text(columns: columns)
    let bar = plan.barRow.map { row in (progress.text(columns: columns), row) }
    return status.change(
      to: hasUTF8 ? line : TerminalText.ascii(line), row: statusRow, columns: columns,
      bar: hasUTF8 ? bar : bar.map { (Array(TerminalText.ascii(String($0))), $1) }, at: instant)
  }

  /// The progress bar for the part of the animation before the current frame, or for the whole animation if the current
  /// frame is the last one.
  private var progress: ProgressBar {
    ProgressBar(
      played: file.frameCount > 0 && position + 1 >= file.frameCount
        ? 1 : file.part(before: position),
      sectionStart: section.map { file.part(before: $0.lowerBound) },
      sectionEnd: section.flatMap { $0.isEmpty ? nil : file.part(before: $0.upperBound) })
  }

  /// The repeated section. The range is empty while only the start of the section is set.
  private var section: Range<Int>? { options.range ?? sectionStart.map { $0..<$0 } }

  /// The contents of the status line.
  var statusLine: StatusLine {
    StatusLine(
      file: hasOtherFiles ? (request.files.current + 1, request.files.entries.count) : nil,
      name: file.shortName, size: file.size, format: file.format,
      index: position, count: file.frameCount,
      time: file.startTime(position), duration: file.duration,
      rate: options.rate, isReversed: options.direction == .backward,
      play: frames.shown?.play ?? 0, plays: options.playCount ?? file.playCount,
      mode: stage.mode.name, zoom: stage.viewport.zoom,
      isPaused: motion.isPaused, isEnded: motion.isEnded,
      isStill: !file.mayMove && file.frameCount == 1,
      received: file.progress?.ending == nil ? file.progress?.byteCount : nil,
      isCut: file.progress?.ending.map { $0 != .complete } ?? false,
      isDamaged: file.isDamaged || frames.shown?.damage?.kind.isTolerated == false,
      section: section,
      message: message?.text,
      note: file.frames.indices.contains(position)
        ? stage.view.note(of: file.frames[position]) : nil,
      timeline: showsTimeline ? file.delays : nil,
      details: showsDetails ? statistics.text : nil)
  }
}
