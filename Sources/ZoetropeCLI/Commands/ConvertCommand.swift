import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// The command `zoetrope convert`.
struct ConvertCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Cut, retime, crop, scale and convert animations.",
    usage: "zoetrope convert [options] <files> ... -o <output>",
    discussion: """
      OUTPUT is a file, a directory, a template, a pipe or device, or - for standard output. The \
      name of a file ends in .gif, .png or .apng. OUTPUT is taken as a directory if it names an \
      existing directory or ends in a slash. Files in a directory keep the names of the inputs, \
      whose extensions determine the formats; with --format they are called {stem}.gif or \
      {stem}.png. A template may contain \
      {name} (the input's name with its extension), {stem} (the name without it), {ext}, {dir} \
      (the directory in the input's path as given, without a leading /; for an input found in a \
      directory that was given, only the part below that directory) and {parent} (the name of the \
      input's directory). In names taken from the inputs, control characters are replaced by _, \
      and so is .. in {dir}. For several inputs, name a directory, or use {stem} or {name} in a \
      template. On standard output, the format is that of the input unless --format is given. If \
      FILES include a directory, the animations in it are read. With -r, its subdirectories are \
      searched too, and an output directory gets the same subdirectories.

      Options can be combined. They apply in this order: --frames or --time, --reverse, \
      --back-and-forth, --speed, --duration or --delay, --fps, --crop, --size. Removing frames \
      shortens the animation; --fps keeps its duration. If a time range begins or ends in the \
      middle of a frame, the frame's delay is shortened. The output has at most 262,144 frames, or \
      as many as the input if that is more, and one play takes at most 1,000,000,000 seconds.

      Pixels change only if --size scales them, if a GIF cannot store them, or through --colors, \
      --lossy, --max-bytes and --for. If format and size stay the same, compressed frames are \
      copied, and only frames next to a cut are encoded again. Changing speed, delays or plays, or \
      cutting off the end, costs no more than copying the file. Frames that are copied are not \
      decoded, so damage to their pixels is neither found nor reported, except with --damage \
      strict, which decodes them and rejects it.

      A GIF frame can have at most 256 colours for the pixels that it changes, and these pixels \
      cannot be partly transparent. If the colours fit, they are kept. If not, they are reduced to \
      palettes that frames share. Light dithering is then added in a pattern that does not move, \
      so that still areas do not flicker. If only frames next to a cut have too many colours, the \
      other frames are still copied, and show the reduced colours where they change nothing. \
      Pixels with an alpha of 128 or more become opaque, all others fully transparent; --matte \
      instead blends partly transparent pixels with a colour. With --colors exact, nothing is \
      written if the format cannot store the result. An APNG keeps all colours, unless --colors N \
      gives it one palette, whose entries may be partly transparent.

      --lossy N lets colours differ where that saves bytes. N is the largest difference, in \
      eighths of a level of grey (there are 256 levels); differences in hue are weighted by how \
      visible they are. At 40 the differences are hard to see; at 120 they are obvious in \
      gradients.

      --max-bytes looks for the mildest change that makes the file fit. From mild to severe, the \
      changes are more effort, similar colours, fewer colours, fewer frames (but at least 10 per \
      second) and smaller pictures. --colors exact keeps the colours; --pin keeps the size, the \
      frame rate, or both. --for also scales pictures to the size that a site requires, drops \
      frames if there are too many, and sets the number of plays if the site requires another one; \
      the output must have a format that the site accepts. If no change makes the file fit, or the \
      site requires a change that --pin excludes, nothing is written, the error states the limit, \
      and the exit status is 8.

      GIF delays are rounded to hundredths of a second, without adding up rounding errors. \
      Browsers show a frame with a delay of 10 ms or less for 100 ms. Frames that would get a new \
      delay below 20 ms in a GIF, or below 11 ms in an APNG, are therefore dropped and their time \
      is added to other frames, unless --exact-delays is given. Delays that the input stores, and \
      a --delay of 0, stay as they are.

      One line reports the sizes before and after, the number of frames copied and encoded, and \
      "exact" or the differences, such as "colours reduced". --plan writes no file. It reports \
      which frames would be copied and which encoded, and why. What a run without --plan would \
      refuse, such as replacing a file without --force, is refused.

      Existing files are overwritten only with --force, which also allows an output to replace its \
      own input. A file appears only when it is complete. After an interruption, --resume writes \
      only the missing files. It does not examine the contents of existing ones, but scans their \
      inputs: damage found in this way is reported and determines the exit status as before. \
      Damage that only decoding finds is not reported again. If several files are given and their \
      statuses differ, the exit status is 1. If output cannot be written, the command stops with \
      status 4, also if the program that reads the animation from a pipe closes it too early.

      EXAMPLES:
        zoetrope convert party.gif -o party.png
        zoetrope convert party.gif -o short.gif --time 1s-3s --speed 2
        zoetrope convert *.gif -o slow/ --speed 0.5
        zoetrope convert *.gif -o apng/ --format apng --size 50%
        zoetrope convert party.gif -o small.gif --size 240x --fps 15 --colors 64
        zoetrope convert sticker.png -o sticker.gif --matte white
        zoetrope convert party.gif -o emoji.gif --for slack-emoji
        zoetrope convert party.gif -o mail.gif --max-bytes 256K --pin fps
        zoetrope convert party.gif -o tail.gif --frames 12- --plan
      """)

  @Argument(help: .files, completion: .animations)
  var files: [String] = []

  @OptionGroup(title: "Files") var listing: FileArguments

  @OptionGroup(title: "Frames") var cut: CutArguments

  @OptionGroup(title: "Changes") var change: ChangeArguments

  @OptionGroup(title: "Output") var naming: OutputNameArguments

  @OptionGroup(title: "Output") var writing: AnimationOutputArguments

  @OptionGroup(title: "Output") var form: AnimationFormArguments

  @OptionGroup(title: "Limits") var limits: BudgetArguments

  @OptionGroup(title: "Output") var planning: PlanArguments

  @OptionGroup(title: "Scaling") var scaling: ScalingArguments

  @OptionGroup(title: "Colours") var colors: ColorArguments

  @OptionGroup(title: "Reading") var reading: ReadingArguments

  struct PlanArguments: ParsableArguments {
    @Flag(help: "Only report what would be copied or encoded, and why.")
    var plan = false
  }

  /// The request that corresponds to the arguments.
  var request: ConvertRequest {
    var form = form.choices(writing, colors)
    form.budget = limits.budget
    return ConvertRequest(
      inputs: listing.list(files), output: naming.output, edits: EditChoices(cut, change),
      rendering: scaling.rendering, form: form, preset: limits.preset, policy: cut.timing.policy,
      isPlan: planning.plan, isResuming: naming.resume, reporting: writing.reporting,
      options: reading.options)
  }

  func validate() throws {
    try listing.check(files)
    try naming.check(writing)
    try colors.check(writing)
  }

  var reportsJSON: Bool { request.reporting.isJSON }

  func execute() throws(CommandFailure) -> ExitStatus { try request.run() }
}
