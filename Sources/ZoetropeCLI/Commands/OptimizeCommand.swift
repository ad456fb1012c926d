import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// The command `zoetrope optimize`.
struct OptimizeCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "optimize",
    abstract: "Make GIF and APNG files smaller, without loss by default.",
    usage: "zoetrope optimize [options] <files> ... -o <output>",
    discussion: """
      Every picture, every delay and the number of plays stay the same, unless --lossy or \
      --max-bytes lets pictures change. A file never becomes larger: a file that cannot be made \
      smaller is copied, or left as it is if the output is the input itself.

      OUTPUT is a file, a directory, a template, a pipe or device, or - for standard output. \
      OUTPUT is taken as a directory if it names an existing directory or ends in a slash. Files \
      in a directory keep the names of the inputs. A template may contain {name} (the input's name \
      with its extension), {stem} (the name without it), {ext}, {dir} (the directory in the \
      input's path as given, without a leading /; for an input found in a directory that was \
      given, only the part below that directory) and {parent} (the name of the input's directory). \
      In names taken from the inputs, control characters are replaced by _, and so is .. in \
      {dir}. For several inputs, name a directory, or use {stem} or {name} in a template. If FILES \
      include a directory, the animations in it are read. With -r, its subdirectories are searched \
      too, and an output directory gets the same subdirectories. The format is that of the input.

      In a GIF, each frame is stored in the way that takes the fewest bytes. Rectangle, colour \
      table, transparent pixels, disposal and compressed data are chosen anew or copied from the \
      input. --effort default estimates which way is smallest; --effort small tries many of them. \
      The output does not depend on the number of threads.

      Metadata is kept, unless --strip leaves it out. Chunks of an APNG that would not be valid \
      with newly encoded pixels, such as caBX, which signs the bytes of the file, are left out, and \
      the report says so. If they are all that could be saved, the file is copied.

      --lossy N lets colours differ where that saves bytes. N is the largest difference, in \
      eighths of a level of grey (there are 256 levels); differences in hue are weighted by how \
      visible they are. At 40 the differences are hard to see; at 120 they are obvious in \
      gradients. The file is never larger than without --lossy.

      --max-bytes looks for the mildest change that makes the file fit: more effort, similar \
      colours, or fewer colours. The picture size and the frames stay the same; convert can change \
      these too. If no change makes the file fit, nothing is written, and the exit status is 8.

      One line reports the sizes before and after. Existing files are overwritten only with \
      --force, which also allows an output to replace its own input. A file appears only when it \
      is complete. After an interruption, --resume writes only the missing files. It does not \
      examine the contents of existing ones, but scans their inputs: damage found in this way is \
      reported and determines the exit status as before. Damage that only decoding finds is not \
      reported again. If several files are given and their statuses differ, the exit status is 1. \
      If output cannot be written, the command stops with status 4, also if the program that reads \
      the animation from a pipe closes it too early.

      EXAMPLES:
        zoetrope optimize party.gif -o small.gif
        zoetrope optimize *.gif -o optimized/ --effort small
        zoetrope optimize party.gif -o party.gif --force --strip
        zoetrope optimize party.gif -o mail.gif --max-bytes 1M
      """)

  @Argument(help: .files, completion: .animations)
  var files: [String] = []

  @OptionGroup(title: "Files") var listing: FileArguments

  @OptionGroup(title: "Output") var naming: OutputNameArguments

  @OptionGroup(title: "Output") var writing: AnimationOutputArguments

  @OptionGroup(title: "Output") var optimizing: OptimizingArguments

  @OptionGroup(title: "Reading") var reading: ReadingArguments

  struct OptimizingArguments: ParsableArguments {
    @Flag(help: "Leave out comments, profiles and other metadata.")
    var strip = false

    @Option(parsing: .unconditional, help: .maxBytes)
    var maxBytes: ByteCountArgument?

    func validate() throws {
      guard maxBytes.map({ $0.count > 0 }) ?? true else {
        throw ValidationError("--max-bytes must be at least 1")
      }
    }
  }

  /// The request that corresponds to the arguments.
  var request: OptimizeRequest {
    OptimizeRequest(
      inputs: listing.list(files), output: naming.output,
      optimizing: OptimizingOptions(
        effort: writing.effort.effort, tolerance: writing.lossy?.tolerance ?? 0,
        stripsMetadata: optimizing.strip, parallelism: writing.threads.count),
      byteLimit: optimizing.maxBytes?.count, isForced: writing.force, isResuming: naming.resume,
      reporting: writing.reporting, options: reading.options)
  }

  func validate() throws {
    try listing.check(files)
    try naming.check(writing)
  }

  var reportsJSON: Bool { writing.json }

  func execute() throws(CommandFailure) -> ExitStatus { try request.run() }
}
