import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Zoetrope

/// Serves frames of the animations in a directory as PNG: `/frame?file=party.gif&at=1.5&width=320`
///
///     frame-server DIRECTORY [PORT]
@main
struct FrameServer {
  let directory: FilePath
  let logger = Logger(label: "frames")
  /// The frame cache, which shares its budget with images and checkpoints.
  let cache = MemoryFrameCache.shared
  let options = DecodingOptions(limits: .strict)

  func frame(_ request: Request) async throws -> Response {
    let query = request.uri.queryParameters
    guard let file = query["file"], let name = FilePath.Component(String(file)),
      name.kind == .regular, let width = Int(query["width"] ?? "320"), (1...1024).contains(width),
      let at = Double(query["at"] ?? "0"), (0...86_400).contains(at)
    else { throw HTTPError(.badRequest, message: "file=NAME&at=SECONDS&width=1...1024") }
    do {
      // A client that goes away cancels the task, and decoding stops within a frame.
      let png = try await request.body.consumeWithCancellationOnInboundClose { _ in
        let image = try await AnimatedImage.open(directory.appending(name), options: options)
        let rendering = Rendering(target: TargetSize(width: width, allowsEnlarging: false))
        let bitmap = try await image.bitmap(at: .seconds(at), rendering: rendering, cache: cache)
        return try await PNGEncoder.encode(bitmap, metadata: image.metadata)
      }
      let headers: HTTPFields = [.contentType: "image/png", .connection: "close"]
      return Response(status: .ok, headers: headers, body: .init(byteBuffer: .init(bytes: png)))
    } catch let error as AnimatedImageError {
      logger.info("\(name.string): \(error)")
      switch error.code {
      case .io where error.systemError == .noSuchFileOrDirectory: throw HTTPError(.notFound)
      case .io: throw HTTPError(.internalServerError)
      case .limitExceeded: throw HTTPError(.contentTooLarge, message: error.detail)
      case .outOfMemory: throw HTTPError(.serviceUnavailable)
      default: throw HTTPError(.unprocessableContent, message: error.description)
      }
    } catch is CancellationError {
      logger.info("\(name.string): cancelled")
      throw HTTPError(.init(code: 499))
    }
  }

  static func main() async throws {
    let arguments = CommandLine.arguments
    let server = FrameServer(directory: FilePath(arguments.count > 1 ? arguments[1] : "."))
    MemoryBudget.shared.byteLimit = 128 << 20
    let router = Router()
    router.get("frame") { request, _ in try await server.frame(request) }
    let address = BindAddress.hostname(port: arguments.count > 2 ? Int(arguments[2]) ?? 8080 : 8080)
    var configuration = ApplicationConfiguration(address: address)
    configuration.availableConnectionsDelegate = MaximumAvailableConnections(16)
    try await Application(router: router, configuration: configuration).runService()
  }
}
