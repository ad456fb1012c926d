public import CZoetrope
internal import Synchronization
internal import Zoetrope

// Unsafe: arguments come from C, under the header's contract. `ForeignMemory` and `ForeignOutput` check and copy them.

/// A writer, which a `zoetrope_writer` points to.
///
/// Its `AnimationWriter` is created when the first picture is appended, because a survey and texts may be added before
/// that.
private final class WriterHandle: Sendable {
  private struct State: Sendable {
    var options: AnimationWriterOptions
    var writer: AnimationWriter?
    /// The size of the pictures, which is set when the first one is appended.
    var size = PixelSize(width: 0, height: 0)
  }

  let destination: Destination
  let format: AnimationFormat
  private let state: Mutex<State>
  /// The writer, which has a lock of its own, because ``cancel()`` must not wait for other calls.
  private let current = Mutex<(writer: AnimationWriter?, isCancelled: Bool)>((nil, false))

  init(_ destination: Destination, _ options: AnimationWriterOptions) {
    self.destination = destination
    format = options.format
    state = Mutex(State(options: options))
  }

  /// Calls `body`, which may change the options. Throws `parameter` once the first picture has been appended.
  func prepare(
    _ body: (inout AnimationWriterOptions) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) {
    try state.withLock { (state) throws(AnimatedImageError) in
      guard state.writer == nil else {
        throw AnimatedImageError(.parameter, "the first picture has already been appended")
      }
      if current.withLock({ $0.isCancelled }) { throw Self.cancelled }
      try body(&state.options)
    }
  }

  func append(_ bitmap: Bitmap, delay: FrameDelay) throws(AnimatedImageError) {
    try state.withLock { (state) throws(AnimatedImageError) in
      let writer = try begun(&state)
      try writer.append(bitmap, delay: delay)
      state.size = bitmap.size
    }
  }

  func finish() throws(AnimatedImageError) -> WrittenFile {
    try state.withLock { (state) throws(AnimatedImageError) in
      let writer = try begun(&state)
      return WrittenFile(try writer.finish(), format, state.size, state.options)
    }
  }

  private func begun(_ state: inout State) throws(AnimatedImageError) -> AnimationWriter {
    if let writer = state.writer { return writer }
    let writer = try AnimationWriter(to: destination, options: state.options)
    let isCancelled = current.withLock { current in
      current.writer = writer
      return current.isCancelled
    }
    if isCancelled { throw Self.cancelled }
    state.writer = writer
    // The writer has its own copy of the survey, so free this one.
    state.options.survey = nil
    return writer
  }

  /// Cancels all work, which then ends within some rows. Does not wait for that.
  func cancel() {
    let writer = current.withLock { current in
      current.isCancelled = true
      return current.writer
    }
    writer?.cancel()
  }

  private static let cancelled = AnimatedImageError(.cancelled, "stopped while writing")
}

/// Implements `zoetrope_writer_create`, which zoetrope.h documents.
@c(zoetrope_writer_create)
public func writerCreate(
  _ destination: UnsafePointer<zoetrope_destination>?,
  _ options: UnsafePointer<zoetrope_writer_options>?,
  _ writer: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe write(nil, to: writer)
  return unsafe attempt(error) { () throws(AnimatedImageError) in
    let target = try unsafe required(writer, "writer")
    let destination = try unsafe Destination(destination)
    let given = try unsafe read(
      options, over: zoetrope_writer_options(), "zoetrope_writer_options")
    var options = try given.writerOptions()
    guard try given.budget() == nil, try given.uploadPreset() == nil else {
      throw AnimatedImageError(
        .parameter, "max_bytes and preset are for zoetrope_rewrite, not for zoetrope_writer_create")
    }
    options.format = try given.format(for: destination.path) ?? .default
    guard given.plays >= 0 else {
      throw AnimatedImageError(.parameter, "plays is \(given.plays); it must be 0 or more")
    }
    options.playCount = given.plays == 0 ? .indefinite : .finite(Int(given.plays))
    if let most = options.format.writable?.maximumPlays, given.plays > most {
      throw AnimatedImageError(
        .unwritable, "plays is \(given.plays); the format stores at most \(most)",
        format: options.format)
    }
    unsafe write(handle(owning: WriterHandle(destination, options)), to: target)
  }
}

extension zoetrope_writer_options {
  /// Returns the options for writing, except format and play count.
  func writerOptions() throws(AnimatedImageError) -> AnimationWriterOptions {
    let efforts: [EncodingEffort] = [.balanced, .fast, .small]
    for (number, name) in [
      (Int64(parallelism), "parallelism"), (frame_count, "frame_count"),
      (memory_bytes, "memory_bytes"),
    ] where number < 0 {
      throw AnimatedImageError(.parameter, "\(name) is \(number); it must be 0 or more")
    }
    guard reserved == 0, reserved2 == 0, matte <= 0xff_ffff else {
      throw AnimatedImageError(.parameter, "matte is not 0xRRGGBB, or reserved is not 0")
    }
    guard (0...200).contains(tolerance) else {
      throw AnimatedImageError(.parameter, "tolerance is \(tolerance); it must be 0 to 200")
    }
    guard (0...255).contains(alpha_threshold) else {
      throw AnimatedImageError(
        .parameter, "alpha_threshold is \(alpha_threshold); it must be 0 to 255")
    }
    let colorPolicy: ColorPolicy
    switch colors {
    case -1: colorPolicy = .exact
    case 0: colorPolicy = .automatic
    case 2...256: colorPolicy = .limited(to: Int(colors))
    default:
      throw AnimatedImageError(.parameter, "colors is \(colors); it must be -1, 0 or 2 to 256")
    }
    let background = RGBA(
      red: UInt8(matte >> 16), green: UInt8(matte >> 8 & 255), blue: UInt8(matte & 255))
    let isBlended = try value(has_matte, of: [false, true], "has_matte")
    return AnimationWriterOptions(
      effort: try value(effort, of: efforts, "effort"),
      identicalFrames: try value(keep_identical, of: [.merge, .keep], "keep_identical"),
      shortDelays: try value(exact_delays, of: [.merge, .keep], "exact_delays"),
      keepsHiddenColors: try value(keep_hidden, of: [false, true], "keep_hidden"),
      colors: colorPolicy,
      dithering: try value(dithering, of: [.automatic, .none, .ordered, .diffusion], "dithering"),
      transparency: isBlended
        ? .matte(background)
        : .threshold(alpha_threshold == 0 ? 128 : UInt8(alpha_threshold)),
      tolerance: Int(tolerance),
      frameCount: frame_count == 0 ? nil : Int(frame_count),
      memoryByteLimit: memory_bytes == 0 ? nil : Int(memory_bytes), parallelism: Int(parallelism))
  }

  /// Returns the maximum size of the file, and the properties that must not be given up to meet it, or nil if there is
  /// no limit.
  func budget() throws(AnimatedImageError) -> ByteBudget? {
    guard max_bytes >= 0 else {
      throw AnimatedImageError(.parameter, "max_bytes is \(max_bytes); it must be 0 or more")
    }
    let limit = try max_bytes > 0 ? Int(max_bytes) : uploadPreset()?.byteLimit
    let budget = ByteBudget(
      byteLimit: limit ?? 0, keepsSize: try value(keep_size, of: [false, true], "keep_size"),
      keepsFrameRate: try value(keep_frame_rate, of: [false, true], "keep_frame_rate"))
    guard limit == nil else { return budget }
    guard !budget.keepsSize, !budget.keepsFrameRate else {
      throw AnimatedImageError(
        .parameter, "keep_size and keep_frame_rate can be used only with max_bytes or preset")
    }
    return nil
  }

  /// Returns the upload preset that the options name, or nil if they name none.
  func uploadPreset() throws(AnimatedImageError) -> UploadPreset? {
    let name = try text(preset, "preset")
    if name.isEmpty { return nil }
    if let preset = UploadPreset(named: name) { return preset }
    if let other = UploadPreset.others.first(where: { name.hasPrefix($0.key) }) {
      throw AnimatedImageError(
        .parameter,
        "preset is \(name): \(other.key) requires \(other.value), which this library cannot write")
    }
    let names = UploadPreset.all.map(\.name).joined(separator: ", ")
    throw AnimatedImageError(.parameter, "preset is \(name); it must be one of \(names)")
  }

  /// Returns the format that the options request. If they request none, returns the format for the extension of `path`,
  /// or nil if there is no path.
  func format(for path: FilePath?) throws(AnimatedImageError) -> AnimationFormat? {
    if let format = try value(format, of: [nil, .gif, .apng] as [AnimationFormat?], "format") {
      return format
    }
    guard let path else { return nil }
    if let word = path.extension?.lowercased(), let format = AnimationFormat(fileExtension: word) {
      return format
    }
    throw AnimatedImageError(
      .parameter,
      "\(path.quoted) does not end in \(FormatTable.writableExtensions), and no format is given")
  }
}

/// Calls `body` with the writer that the handle `writer` points to.
private func use(
  _ writer: OpaquePointer?, _ error: UnsafeMutablePointer<zoetrope_error>?,
  _ body: (WriterHandle) throws(AnimatedImageError) -> Void
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    try body(try unsafe object(writer, WriterHandle.self, "writer"))
  }
}

/// Implements `zoetrope_writer_survey`, which zoetrope.h documents.
@c(zoetrope_writer_survey)
public func writerSurvey(
  _ writer: OpaquePointer?, _ picture: UnsafePointer<zoetrope_picture>?,
  _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe use(writer, error) { (held) throws(AnimatedImageError) in
    try held.prepare { (options) throws(AnimatedImageError) in
      // Check the picture even if it cannot change the survey.
      let picture = try unsafe Bitmap(picture)
      var survey = options.survey ?? ColorSurvey(for: options)
      options.survey = nil
      defer { options.survey = survey }
      try survey.add(picture)
    }
  }
}

/// Implements `zoetrope_writer_add_text`, which zoetrope.h documents.
@c(zoetrope_writer_add_text)
public func writerAddText(
  _ writer: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ text: UnsafePointer<CChar>?,
  _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe use(writer, error) { (held) throws(AnimatedImageError) in
    let given = try unsafe required(text, "text")
    guard let text = unsafe String(validatingCString: given),
      let key = unsafe key.map({ unsafe String(validatingCString: $0) }) ?? "Comment"
    else { throw AnimatedImageError(.parameter, "key or text is not UTF-8") }
    // The PNG specification requires Latin-1, with no leading, trailing or consecutive spaces.
    let scalars = Array(key.unicodeScalars)
    let isValid =
      (1...79).contains(scalars.count)
      && scalars.allSatisfy { (32...126).contains($0.value) || (161...255).contains($0.value) }
      && scalars.first != " " && scalars.last != " " && !key.contains("  ")
    try held.prepare { (options) throws(AnimatedImageError) in
      // A GIF has comments, which have no keys.
      let onlyKey = options.format.writable?.textKey
      guard isValid || onlyKey != nil else {
        throw AnimatedImageError(
          .parameter,
          "key must be 1 to 79 Latin-1 characters, with no leading, trailing or consecutive spaces")
      }
      var metadata = options.metadata ?? AnimationMetadata()
      metadata.texts.append(AnimationMetadata.Text(key: onlyKey ?? key, value: text))
      options.metadata = metadata
    }
  }
}

/// Implements `zoetrope_writer_append`, which zoetrope.h documents.
@c(zoetrope_writer_append)
public func writerAppend(
  _ writer: OpaquePointer?, _ picture: UnsafePointer<zoetrope_picture>?, _ numerator: UInt32,
  _ denominator: UInt32, _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe use(writer, error) { (held) throws(AnimatedImageError) in
    guard denominator > 0 else {
      throw AnimatedImageError(.parameter, "delay_denominator is 0")
    }
    let bitmap = try unsafe Bitmap(picture)
    try held.append(bitmap, delay: FrameDelay(numerator: numerator, denominator: denominator))
  }
}

/// Implements `zoetrope_writer_finish`, which zoetrope.h documents.
@c(zoetrope_writer_finish)
public func writerFinish(
  _ writer: OpaquePointer?, _ written: UnsafeMutablePointer<zoetrope_written>?,
  _ error: UnsafeMutablePointer<zoetrope_error>?
) -> zoetrope_status {
  unsafe attempt(error) { () throws(AnimatedImageError) in
    try unsafe zoetrope_written.clear(written)
    let held = try unsafe object(writer, WriterHandle.self, "writer")
    try unsafe zoetrope_written.check(written, for: held.destination)
    try unsafe zoetrope_written.write(held.finish(), held.destination, to: written)
  }
}

/// Implements `zoetrope_writer_cancel`, which zoetrope.h documents.
@c(zoetrope_writer_cancel)
public func writerCancel(_ writer: OpaquePointer?) {
  guard !ForkGuard.isForked else { return }
  (try? unsafe object(writer, WriterHandle.self, "writer"))?.cancel()
}

/// Implements `zoetrope_writer_free`, which zoetrope.h documents.
@c(zoetrope_writer_free)
public func writerFree(_ writer: OpaquePointer?) {
  guard !ForkGuard.isForked, let held = unsafe release(writer, WriterHandle.self) else { return }
  held.cancel()
  held.destination.close()
}
