import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// The command `zoetrope cache warm`.
struct CacheWarmCommand: CacheSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "warm",
    abstract: "Decode and scale frames into the cache, for later runs.",
    usage: "zoetrope cache warm [options] <files> ...",
    discussion: """
      Use the same size and filter as later commands: frames of another size or filter are stored \
      separately. Without --size, frames are stored as play uses them. You may interrupt the \
      command at any time; the next run stores the rest. A file that cannot be read does not stop \
      the others. If the frames of a file do not all fit, those at the end of its animation are \
      left out, and the status is 5. If a file is damaged, the status is 1.

      --json prints one line of JSON per file (schema zoetrope.warm/2). "stored" is the number of \
      new frames, "known" that of frames that were already in the cache, "kept" that of frames \
      that are in it now, and "damaged" that of frames with damaged pixels.

      EXAMPLES:
        zoetrope cache warm *.gif --size 128x128
        zoetrope cache warm film.png --cache-limit 2G
      """)

  @Argument(help: .files, completion: .animations)
  var files: [String] = []

  @OptionGroup(title: "Files") var listing: FileArguments

  @OptionGroup(title: "Cache") var store: CacheStoreArguments

  @OptionGroup(title: "Scaling") var scaling: ScalingArguments

  @OptionGroup(title: "Reading") var reading: ReadingArguments

  func validate() throws { try listing.check(files) }

  func execute() throws(CommandFailure) -> ExitStatus {
    let inputs = try listing.inputs(files)
    let frames = try store.open()
    var room = WarmRoom(byteCount: store.byteLimit)
    return CommandRunner.forEach(inputs, asJSON: store.json, schema: WarmReport.schema) {
      (input, progress) throws(CommandFailure) in
      let image = try input.open(reading.options, knownTo: frames)
      try scaling.rendering?.check(against: image, file: input.name)
      var warming = Warming(
        image, input: input, rendering: scaling.rendering ?? Rendering(), store: frames)
      // Signals are caught, so that after an interruption the command can report what was stored.
      let report = try Signals.whileCaught { () throws(CommandFailure) in
        try warming.run(room: &room, progress)
      }
      let hasLosses = report.isDamaged || image.damage.contains { !$0.kind.isTolerated }
      let output =
        store.json ? CommandRunner.line { report.write(to: &$0) } : Array(report.text.utf8)
      return InputOutcome(
        status: report.status == .success && hasLosses ? .partial : report.status, output: output,
        condition: InputCondition(hasLosses: hasLosses),
        frameCount: report.kept)
    }
  }
}

/// Decodes the frames of one image and stores them in a frame store.
struct Warming {
  private let image: AnimatedImage
  private let input: InputFile
  private let rendering: Rendering
  private let store: FrameStore
  private var report: WarmReport

  init(_ image: AnimatedImage, input: InputFile, rendering: Rendering, store: FrameStore) {
    (self.image, self.input, self.rendering, self.store) = (image, input, rendering, store)
    let rendition = Rendition(rendering, of: image.canvasSize, options: image.options)
    report = WarmReport(input: input, rendition: rendition, frameCount: image.frames.count)
  }

  /// Decodes and stores the frames that the store does not have yet.
  ///
  /// - Parameter room: The space that this command may still fill.
  mutating func run(
    room: inout WarmRoom, _ progress: ProgressReporter
  ) throws(CommandFailure) -> WarmReport {
    progress.expect(image.frames.count)
    defer { progress.finish((report.known + report.stored, nil)) }
    do throws(AnimatedImageError) {
      let content = try store.identity(of: image) { Signals.ending != nil }
      let keys = AnimationKey(content: content, rendition: report.rendition)
      let reader = RenderedReader(image, rendering: rendering, cache: nil)
      for index in image.frames.indices {
        if let frame = store.frame(for: keys[index]) {
          report.note(frame.damage)
          room.take(frame)
          room.takeTable(of: report.rendition, in: store)
          report.known += 1
        } else {
          guard room.hasRoom else { break }
          let read = try reader.frame(at: index) { Signals.ending != nil }
          // If the file has been overwritten, the pixels do not match its identity.
          guard image.source.isUnchanged else {
            throw AnimatedImageError(.io, "the file has changed", format: image.format)
          }
          let frame = CachedFrame(read.bitmap, damage: read.damage)
          room.take(frame)
          guard room.hasRoom else { break }
          report.note(frame.damage)
          try keep(frame, for: keys[index])
          room.takeTable(of: report.rendition, in: store)
        }
        progress.update((report.known + report.stored, nil))
        if Signals.ending != nil { throw AnimatedImageError(.cancelled, "cancelled by a signal") }
      }
      // A stored frame may have been evicted in the meantime, for example by another program.
      report.kept = image.frames.indices.count { store.frame(for: keys[$0]) != nil }
      report.hadRoom = room.hasRoom
    } catch {
      throw failure(error)
    }
    return report
  }

  private mutating func keep(
    _ frame: CachedFrame, for key: FrameKey
  ) throws(AnimatedImageError) {
    do throws(AnimatedImageError) {
      try store.store(frame, for: key)
      report.stored += 1
    } catch {
      // Neither of these errors ends the command. If the store is busy, other programs are using every slot for this
      // frame, but the next frame may get a slot. If the store is full, its limit leaves no room beside the table,
      // although the disk has room.
      let isLimit =
        error.code == .storeFull
        && store.statistics.byteCount + frame.byteCount + TableFile.pageSize > store.byteLimit
      guard error.code == .storeBusy || isLimit else { throw error }
    }
  }

  private func failure(_ error: AnimatedImageError) -> CommandFailure {
    let count = report.known + report.stored
    let interruption = CommandFailure.interruption(
      "interrupted, \(count) of \(report.frameCount) frames are in the cache", file: input.name)
    if let interruption { return interruption }
    let isStore = [
      AnimatedImageError.Code.storeFull, .storeDenied, .storeDamaged, .storeUnsupported,
    ].contains(error.code)
    guard isStore else {
      return CommandFailure(error, file: input.name, damage: image.options.damage)
    }
    return CommandFailure(
      .cannotWrite, code: error.code.name,
      "the cache has \(report.known + report.stored) of \(report.frameCount) frames: "
        + error.detail, file: input.name)
  }
}

/// The number of bytes that a command may still store. They are counted so that frames of one input do not evict those
/// of another input of the same command.
struct WarmRoom {
  private var byteCount: Int
  /// The sizes and pixel formats of the tables whose overhead has been subtracted.
  private var tables: Set<Rendition> = []

  init(byteCount: Int) { self.byteCount = byteCount }

  var hasRoom: Bool { byteCount >= 0 }

  mutating func take(_ frame: CachedFrame) {
    let page = TableFile.pageSize
    byteCount -= (frame.byteCount + page - 1) / page * page + 256
  }

  /// Subtracts the overhead of the table for `rendition`, once per table.
  mutating func takeTable(of rendition: Rendition, in store: FrameStore) {
    let shape = Rendition.canvas(rendition.size, format: rendition.format)
    guard tables.insert(shape).inserted else { return }
    let table = store.statistics.tables.first {
      $0.size == shape.size && $0.format == shape.format
    }
    byteCount -= (table?.capacity ?? 0) * 8 + 3 * TableFile.pageSize
  }
}
