import ArgumentParser
import Zoetrope
import ZoetropePlayer
import ZoetropeProcess

/// `zoetrope still`.
struct StillCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "still",
    abstract: "Write or draw one picture of each animation.",
    discussion: """
      Without --frame or --at it is the poster.

      OUTPUT is a file, a directory that exists or ends in a slash (files are called \
      {stem}-{index:04}.png), a template as for extract, a pipe or device, or - for standard output. \
      Several files need a directory, or {stem} or {name} in the template.

      Without -o the pictures are drawn in the terminal, one below the other, or where --place says; \
      with --protocol also into a pipe.

      EXAMPLES:
        zoetrope still party.gif -o thumb.png --size 128x128 --filter lanczos3
        zoetrope still *.gif -o thumbs/ --at 1.5s
        zoetrope still party.gif
      """)

  @Argument(
    help: "GIF or PNG files; - reads standard input.", completion: .animations)
  var files: [String] = []

  @Option(
    name: [.customShort("o", allowingJoined: true), .long],
    help: "A file, a directory, a template, or - for standard output (default: draw).",
    completion: .file())
  var output: String?

  @Option(parsing: .unconditional, help: "The frame, counted from 0; -1 is the last.")
  var frame: FrameNumber?

  @Option(
    parsing: .unconditional,
    help: "The frame shown at a time such as 1.5s, later plays included.")
  var at: TimeArgument?

  @Option(help: "Which frame is the poster.")
  var poster = PosterChoice.default

  @Option(help: "How the picture is written.")
  var format = OutputFormat.png

  @Flag(help: "Replace an existing file.")
  var force = false

  @OptionGroup var drawing: DrawingArguments

  @OptionGroup var preview: PlaceArguments

  @OptionGroup var timing: TimingArguments

  @OptionGroup var scaling: ScalingArguments

  @OptionGroup var cache: CacheArguments

  @OptionGroup var decoding: DecodingArguments

  func validate() throws {
    guard frame == nil || at == nil else { throw ValidationError("--frame or --at, not both") }
    if let output {
      guard !output.isEmpty else { throw ValidationError("the output name is empty") }
      guard !drawing.isUsed, !preview.isUsed else {
        throw ValidationError("-o writes files, and options of drawing and previews draw: not both")
      }
    } else if force || format != .png {
      throw ValidationError("--force and --format want -o")
    }
    if preview.clear {
      guard files.isEmpty else { throw ValidationError("--clear removes a picture: no file") }
      return
    }
    guard !files.isEmpty else { throw ValidationError("a file is needed") }
    if preview.id != nil || preview.place?.position != nil, files.count > 1 {
      throw ValidationError("one place or --id has one picture: name one file")
    }
  }

  func execute() -> ExitStatus {
    if preview.clear {
      do throws(CommandFailure) {
        try PictureDrawing.clear(drawingSettings)
        return .success
      } catch {
        error.report(asJSON: false)
        return error.status
      }
    }
    return StillRequest(
      files: files, output: output.map { .files($0) } ?? .drawing(drawingSettings),
      choice: choice, rendering: scaling.rendering, format: format, policy: timing.policy,
      isForced: force, cache: cache.settings, options: decoding.options
    ).run()
  }

  private var drawingSettings: PreviewSettings {
    var settings = drawing.settings
    preview.apply(to: &settings)
    return settings
  }

  private var choice: StillRequest.Choice {
    if let frame { return .frame(frame) }
    if let at { return .time(at.time) }
    return .poster(poster)
  }
}

/// The words of `--poster`.
enum PosterChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case first, `default`, nonblank
}
