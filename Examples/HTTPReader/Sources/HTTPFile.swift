import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Zoetrope

/// A file on an HTTP server, read in ranges.
///
/// Every range belongs to the version of the file that was opened. If the file changes, reading it fails; then open it
/// again. Reads that fail for other reasons are retried according to ``Retries``, and continue where the body broke
/// off. Cancelling the task ends a request and closes its connection.
struct HTTPFile: ByteRangeReading {
  let url: String
  let byteCount: Int
  private let version: Version
  private let client: HTTPClient
  private let retries: Retries

  /// Requests the first byte, since some servers and signed URLs do not allow HEAD.
  init(_ url: String, client: HTTPClient, retries: Retries = Retries()) async throws {
    (byteCount, version) = try await retries.run {
      let response = try await Self.request(url, 0..<1, of: Version(), client: client)
      guard let range = response.headers.first(name: "Content-Range"),
        range.hasPrefix("bytes 0-0/"), let byteCount = Int(range.dropFirst(10)), byteCount > 0
      else { throw Refusal("the server does not tell the length of the file") }
      // Read to its end, so that the connection can be used again.
      _ = try await response.body.collect(upTo: 1)
      return (byteCount, Version(response.headers))
    }
    (self.url, self.client, self.retries) = (url, client, retries)
  }

  func read(_ range: Range<Int>) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    try await retries.run {
      if bytes.count < range.count { try await append(range.dropFirst(bytes.count), to: &bytes) }
    }
    return bytes
  }

  /// Appends the bytes of `range`. If this throws, `bytes` contains what arrived before.
  private func append(_ range: Range<Int>, to bytes: inout [UInt8]) async throws {
    let response = try await Self.request(url, range, of: version, client: client)
    guard version.isSame(as: Version(response.headers)) else { throw Refusal.changed }
    let served = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(byteCount)"
    guard response.headers.first(name: "Content-Range") == served else {
      throw Refusal("the server sent a range other than \(served)")
    }
    var left = range.count
    for try await part in response.body {
      left -= part.readableBytes
      guard left >= 0 else { throw Refusal("the server sent more than \(served)") }
      bytes.append(contentsOf: part.readableBytesView)
    }
    guard left == 0 else { throw Failure(description: "the server sent less than \(served)") }
  }

  /// The response with status 206. The caller reads its body, or cancels it by dropping the response.
  private static func request(
    _ url: String, _ range: Range<Int>, of version: Version, client: HTTPClient
  ) async throws -> HTTPClientResponse {
    var request = HTTPClientRequest(url: url)
    request.headers = version.conditions
    request.headers.add(name: "Range", value: "bytes=\(range.lowerBound)-\(range.upperBound - 1)")
    // Ranges of compressed bytes would be useless.
    request.headers.add(name: "Accept-Encoding", value: "identity")
    let response = try await client.execute(request, timeout: .seconds(60))
    switch response.status.code {
    case 206: return response
    case 200: throw Refusal("the server does not support ranges")
    case 412, 416: throw Refusal.changed
    case 408, 425, 429, 500, 502, 503, 504:
      throw Failure(
        description: "the server answered \(response.status)",
        retryAfter: response.headers.first(name: "Retry-After").flatMap { Int($0) })
    default: throw Refusal("the server answered \(response.status)")
    }
  }
}

extension HTTPFile {
  /// Distinguishes the versions of a file.
  private struct Version {
    var tag: String?
    var date: String?

    init() {}

    init(_ headers: HTTPHeaders) {
      tag = headers.first(name: "ETag")
      date = headers.first(name: "Last-Modified")
    }

    /// Header fields with which the server refuses ranges of other versions. A weak tag would never match.
    var conditions: HTTPHeaders {
      if let tag, !tag.hasPrefix("W/") { return ["If-Match": tag] }
      return date.map { ["If-Unmodified-Since": $0] } ?? [:]
    }

    /// Compares versions, for servers that ignore the conditions.
    func isSame(as other: Version) -> Bool {
      tag == nil && other.tag == nil ? date == other.date : tag == other.tag
    }
  }

  /// An error that would occur again if the request were repeated.
  struct Refusal: Error, CustomStringConvertible {
    static let changed = Refusal("the file has changed since it was opened")

    let description: String

    init(_ description: String) { self.description = description }
  }

  /// A temporary error.
  struct Failure: Error, CustomStringConvertible {
    let description: String
    /// The number of seconds after which the server accepts requests again.
    var retryAfter: Int?
  }

  /// How often a request is retried, and how long to pause before each attempt.
  struct Retries: Sendable {
    var attemptCount = 5
    /// The pause after the first attempt. It doubles with each, up to ``longestPause``.
    var firstPause: Duration = .milliseconds(200)
    var longestPause: Duration = .seconds(10)

    /// Runs `body` until it succeeds, throws a ``Refusal``, or has used up its attempts.
    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
      var longest = firstPause
      for _ in 1..<attemptCount {
        do {
          return try await body()
        } catch let error where !(error is Refusal) {
          try Task.checkCancellation()
          // A random part keeps readers that failed together from retrying together.
          let pause = longest * Double.random(in: 0.5...1)
          let wanted = Duration.seconds((error as? Failure)?.retryAfter ?? 0)
          try await Task.sleep(for: max(pause, min(wanted, longestPause)))
          longest = min(longest * 2, longestPause)
        }
      }
      return try await body()
    }
  }
}
