import Foundation

/// Runs one of the examples: `swift run examples poster party.gif poster.png`.
///
/// Each example is one file, whose `run` would be the `main` of a separate program.
@main
struct Examples {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst(2))
    let name = CommandLine.arguments.dropFirst().first ?? ""
    do {
      switch name {
      case "chat-thumbnails": try await ChatThumbnails.run(arguments)
      case "contact-sheet": try await ContactSheet.run(arguments)
      case "dump-frames": try await DumpFrames.run(arguments)
      case "even-frames": try await EvenFrames.run(arguments)
      case "minimal-player": try await MinimalPlayer.run(arguments)
      case "poster": try await Poster.run(arguments)
      case "remote-frame": try await RemoteFrame.run(arguments)
      case "stream-frames": try await StreamFrames.run(arguments)
      case "thumbnails": try await Thumbnails.run(arguments)
      case "view-model": try await ViewModel.run(arguments)
      case "write-animation": try await WriteAnimation.run(arguments)
      default: throw Usage("NAME ARGUMENT..., where NAME is that of a file, such as even-frames")
      }
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(error is Usage ? 2 : 1)
    }
  }
}

/// The arguments of an example.
struct Usage: Error, CustomStringConvertible {
  let description: String

  init(_ arguments: String) { description = "usage: examples \(arguments)" }
}
