import ArgumentParser
import AsyncHTTPClient
import NIOCore
import Zoetrope

/// Writes frames of a remote file as PNG, reading only the bytes that they need:
///
///     http-frames https://example.org/party.gif frames 0 500
@main
struct HTTPFrames: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "http-frames")

  @Flag(help: "Cancel each frame when the next one is requested, as a scrubber does.")
  var scrub = false
  @Option(help: "Seconds without a byte after which a request is repeated.")
  var timeout = 10.0
  @Argument var url: String
  @Argument(help: "Frames are written to DIRECTORY/0.png and so on.")
  var directory: String
  @Argument(help: "Indices of frames, from 0.")
  var frames: [Int]

  func run() async throws {
    var configuration = HTTPClient.Configuration()
    configuration.timeout.connect = .seconds(10)
    configuration.timeout.read = .nanoseconds(Int64(max(0, min(timeout, 3600)) * 1e9))
    let client = HTTPClient(configuration: configuration)
    let result: Result<RemoteImage, any Error>
    do {
      let image = try await RemoteImage(reading: HTTPFile(url, client: client))
      try await scrub ? writeLast(of: image) : writeAll(of: image)
      result = .success(image)
    } catch {
      result = .failure(error)
    }
    try await client.shutdown()
    let image = try result.get()
    let (reads, bytes) = (image.statistics.readCount, image.statistics.byteCount)
    print("\(reads) reads, \(bytes) of \(image.byteCount) bytes")
  }

  /// Writes all frames, at the same time.
  private func writeAll(of image: RemoteImage) async throws {
    try await withThrowingTaskGroup { group in
      for frame in frames { group.addTask { try await write(frame, of: image) } }
      try await group.waitForAll()
    }
  }

  /// Requests a frame every 10 ms, and writes the last one and those that were quick.
  private func writeLast(of image: RemoteImage) async throws {
    var last: Task<Void, any Error>?
    for frame in frames {
      last?.cancel()
      last = Task { try await write(frame, of: image) }
      try await Task.sleep(for: .milliseconds(10))
    }
    try await last?.value
  }

  private func write(_ frame: Int, of image: RemoteImage) async throws {
    let bitmap = try await image.bitmap(at: frame)
    let png = try await PNGEncoder.encode(bitmap, metadata: image.metadata)
    let output = try FileDescriptor.open(
      FilePath(directory).appending("\(frame).png"), .writeOnly, options: [.create, .truncate],
      permissions: .ownerReadWrite)
    _ = try output.closeAfter { try output.writeAll(png) }
  }
}
