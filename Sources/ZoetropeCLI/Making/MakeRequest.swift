import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The request of one `zoetrope make` command.
struct MakeRequest: Hashable {
  enum Delays: Hashable {
    case same(FrameDelay)
    /// One delay per picture, listed in the file with this name.
    case listed(String)
    /// Equal delays that together last for this time, the duration of one play.
    case shared(Duration)
  }

  var files: InputList
  var output: String
  /// The delays, or nil to use those in the manifest.
  var delays: Delays?
  /// The play count. Nil means the play count in the manifest, or forever if there is no manifest.
  var playCount: PlayCount?
  var order = FrameOrder.natural
  var poster: String?
  var form = WritingChoices()
  var reporting = ConversionReporting()
  var options = DecodingOptions()

  /// Writes the animation. Names, sizes, delays and colours are checked before the first byte is written.
  func run() throws(CommandFailure) -> ExitStatus {
    let destination = try AnimationDestination(output, format: form.format)
    if destination.places[0] == .stream(nil), reporting.isJSON {
      throw .usage("the animation and --json cannot both go to standard output")
    }
    let format = destination.formats[0] ?? .default
    let writable = format.writable
    try form.check([format])
    if writable?.hasPoster == false, poster != nil {
      throw .usage(
        "--poster requires an APNG: \(format.nameWithArticle) has no static image besides its "
          + "frames")
    }
    let files = try FrameFiles(self.files, order: order, options)
    let listed = [delayFile, poster, self.files.list].compactMap { $0.map { InputFile($0) } }
    _ = try destination.check(files.inputs + listed, isInPlace: false, isForced: form.isForced)
    let delays = try self.delays(of: files)
    if case .listed(let name)? = self.delays, files.isSorted, !reporting.isQuiet, !reporting.isJSON
    {
      FileDescriptor.note(
        "zoetrope: warning: the pictures are sorted by name, and get the delays in \(name) in that "
          + "order; --order given keeps the order of the arguments\n")
    }
    let pictures = try FilePictures(files.sources, options)
    var timeline = EditTimeline(
      delays.map { FrameControl(index: 0, rect: .empty, delay: $0) }, canvas: pictures.size,
      playCount: playCount ?? files.manifest?.playCount ?? .indefinite, policy: .exact)
    // Delays from a manifest are written as the original file stored them, even if browsers replace them.
    if self.delays != nil { timeline.set(delays) }
    let kept: EditDelays
    do throws(AnimatedImageError) {
      kept = try .stored(
        in: format, timeline, form.keepsShortDelays ? .keep : .merge)
    } catch {
      throw pictures.failure(error)
    }
    var departures = Departure.ofTimes(
      kept.mergedCount, isExact: kept.isExact, keepsDuration: kept.keepsDuration)
    var options = form.writerOptions
    options.format = format
    options.size = pictures.size
    options.playCount = timeline.playCount
    options.metadata = pictures.metadata
    if let poster = poster.map({ InputFile($0) })
      ?? files.manifest?.poster.map({ InputFile(path: $0) })
    {
      if writable?.hasPoster == false {
        departures.append(.staticImage)
      } else {
        options.poster = try pictures.poster(poster)
      }
    }
    if format.hasPalettes { options.keepsHiddenColors = false }
    if writable?.losesMetadata(pictures.metadata) == true { departures.append(.metadata) }
    var assembly = AnimationAssembly(
      pictures, frames: kept.kept, options: options, isCancelled: { Signals.ending != nil })
    do throws(AnimatedImageError) {
      try Signals.whileCaught { () throws(AnimatedImageError) in try assembly.prepare() }
    } catch {
      throw pictures.failure(error)
    }
    if options.tolerance > 0 { departures.append(.lossy(options.tolerance)) }
    if assembly.findings.reducesColors { departures.append(.colors(options.colors.limit)) }
    if assembly.findings.partialAlphaShare > 0 {
      departures.append(
        .transparency(
          assembly.findings.partialAlphaShare, isMatte: options.transparency.isMatte))
    }
    var report = ConversionReport(
      input: nil, output: destination.name(of: 0), format: format,
      inputByteCount: pictures.byteCount, size: pictures.size, playCount: timeline.playCount,
      steps: kept.kept.map {
        ConversionStep(source: $0.frame, delay: $0.delay, action: .encoded)
      }, departures: departures, damage: assembly.findings.damage, isPlan: false)
    let written = try AnimationWriting(
      place: destination.places[0], isReplacing: form.isForced, name: nil,
      progress: reporting.reporter(),
      // The writer reads pictures that the first pass did not keep a second time.
      failure: pictures.failure
    ).write(frameCount: kept.kept.count) { (sink, progress) throws(AnimatedImageError) in
      try assembly.write(to: sink, progress: progress)
    }
    report.byteCount = written.byteCount
    report.reducedCount = written.reducedCount
    let losses = report.damage.filter { !$0.kind.isTolerated }
    if !reporting.isQuiet, !reporting.isJSON {
      pictures.warn(of: losses)
      report.warn()
    }
    try reporting.tell(report, isOutputStandard: destination.places[0] == .stream(nil))
    return losses.isEmpty ? .success : .partial
  }

  /// The name of the file with the delays, or nil if there is none.
  private var delayFile: String? {
    if case .listed(let name)? = delays { name } else { nil }
  }

  /// Returns one delay for each picture.
  private func delays(of files: FrameFiles) throws(CommandFailure) -> [FrameDelay] {
    let count = files.sources.count
    switch delays {
    case .same(let delay)?: return [FrameDelay](repeating: delay, count: count)
    case .listed(let name)?:
      let list = InputFile(name)
      guard let path = list.path else {
        throw .usage("--delays requires a file, not standard input")
      }
      let delays = try DelayList.delays(
        in: try FrameFiles.contents(of: path, name: name), name: name)
      guard delays.count == count else {
        throw .usage(
          "\(name) lists \(delays.count.counted("delay")) for \(count.counted("frame"))")
      }
      return delays
    case .shared(let duration)?:
      let second: Int128 = 1_000_000_000_000_000_000
      guard let delay = DelayArgument(duration.attoseconds, over: second * Int128(count)) else {
        throw .usage("--duration cannot be divided among \(count.grouped) frames; use --fps")
      }
      return [FrameDelay](repeating: delay.delay, count: count)
    case nil:
      if let manifest = files.manifest { return manifest.frames.map(\.delay) }
      guard count > 1 else { return [FrameDelay(centiseconds: 0)] }
      throw .usage("the frames need delays: --fps, --delay, --delays, --duration or a manifest")
    }
  }
}
