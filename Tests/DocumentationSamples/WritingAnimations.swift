import Zoetrope

/// The body of a response of a server.
protocol ResponseBody: Sendable {
  func write(_ bytes: [UInt8]) async throws
}

/// A connection that blocks.
protocol Response: Sendable {
  func send(_ bytes: [UInt8]) throws
  func close()
  func drop()
}

final class Upload: AnimationSink {
  let response: any Response
  init(_ response: any Response) { self.response = response }

  func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
    do { try response.send(bytes) } catch { throw AnimatedImageError(.io, "\(error)") }
  }
  func finish() throws(AnimatedImageError) { response.close() }
  func abandon() { response.drop() }
}

func sampleOfABitmap(of rgba: [UInt8]) throws -> Bitmap {
  let bitmap = try Bitmap(size: PixelSize(width: 640, height: 360), bytes: rgba)
  return bitmap
}

func samplesOfWritingAnimations(
  of pictures: [Bitmap], image: AnimatedImage, square: PixelRect, response: some ResponseBody
) async throws -> AnimationWriterOptions {
  let writer = try AnimationWriter(
    to: FileSink("out.png"), options: AnimationWriterOptions(playCount: .finite(3)))
  for bitmap in pictures {
    try await writer.append(bitmap, delay: FrameDelay(numerator: 1, denominator: 30))
  }
  let written = try await writer.finish()
  print(written.frameCount, written.byteCount)

  let path: FilePath = "party.gif"
  var named = AnimationWriterOptions()
  named.format = path.extension.flatMap { AnimationFormat(fileExtension: $0) } ?? .default
  print(named.format, FrameDelay(centiseconds: 4), FrameDelay(.milliseconds(40)))

  try await image.reencode(to: FileSink("copy.png"))

  var survey = ColorSurvey()
  for bitmap in pictures { try survey.add(bitmap) }
  let options = AnimationWriterOptions(effort: .small, survey: survey)

  let edits: [AnimationEdit] = [.time(.seconds(1)..<(.seconds(3))), .speed(1.5)]
  let plan = try await image.plan(edits)
  print(plan)
  try await plan.write(to: FileSink("cut.gif"))

  try await image.write([.crop(square), .resize(TargetSize(width: 128))], to: FileSink("icon.gif"))

  let result = try await image.optimize(to: FileSink("small.gif"))
  print(result.sourceByteCount, result.byteCount, result.losesMetadata)

  let budget = ByteBudget(byteLimit: 256 * 1024, keepsFrameRate: true)
  try await image.write(to: FileSink("mail.gif"), options: EditOptions(budget: budget))

  try await image.write(for: .discordEmoji, to: FileSink("emoji.gif"))

  for try await chunk in image.reencoded() {
    try await response.write(chunk)
  }
  return options
}
