import SystemPackage
import TestRunning
import Testing
import ZoetropeTestSupport

/// Which folder of a module may name types of which other: layers point one way.
@Suite(.timeLimit(.minutes(10)), .computes) struct LayeringTests {
  /// A folder's types that another may name although the layers point the other way, and why.
  struct Exception: Sendable {
    let from: String
    let to: String
    let types: Set<String>
    let reason: String
  }

  struct Module: Sendable, CustomTestStringConvertible {
    let name: String
    /// What each folder may name; the files beside the folders are "/".
    let arrows: [String: Set<String>]
    var exceptions: [Exception] = []
    var testDescription: String { name }
  }

  static let modules = [
    Module(
      name: "ZoetropeCore",
      arrows: [
        "Threads": [], "Model": ["Threads"], "Memory": ["Model"],
        "Sources": ["Memory", "Model", "Threads"],
      ]),
    Module(
      name: "ZoetropeCodec",
      arrows: [
        "/": [], "Scanning": [], "Pixels": ["Scanning"], "Formats": ["Pixels", "Scanning"],
        "GIF": ["Formats", "Pixels", "Scanning"], "PNG": ["Formats", "Pixels", "Scanning"],
        "Compositing": ["GIF", "Pixels"], "Decoding": ["Formats", "Pixels", "Scanning"],
        "Encoding": ["PNG"],
      ],
      exceptions: [
        Exception(
          from: "Formats", to: "GIF", types: ["GIFCodec"], reason: "the table lists the formats"),
        Exception(
          from: "Formats", to: "PNG", types: ["PNGCodec"], reason: "the table lists the formats"),
      ]),
    Module(
      name: "Zoetrope",
      arrows: [
        "/": ["Caching", "Memory", "Opening", "Playback", "Reading", "Seeking"],
        "Memory": [], "Opening": [], "Scaling": [], "Text": [],
        // `AnimatedImage`, beside the folders, is the value that all of these are about.
        "Reading": ["/", "Memory", "Scaling"],
        "Seeking": ["/", "Memory", "Reading"],
        "Caching": ["/", "Memory", "Reading", "Scaling", "Seeking"],
        "Tables": ["/", "Caching", "Opening", "Reading", "Scaling", "Seeking"],
        "Streaming": ["/", "Memory", "Opening", "Reading", "Seeking"],
        "Playback": [
          "/", "Caching", "Memory", "Reading", "Scaling", "Seeking", "Streaming", "Text",
        ],
        "Remote": [
          "/", "Memory", "Opening", "Playback", "Reading", "Seeking", "Streaming", "Tables",
        ],
        "Loading": ["/", "Caching", "Memory", "Playback", "Reading", "Streaming"],
      ],
      exceptions: [
        Exception(
          from: "Caching", to: "Tables", types: ["FrameFiller", "FrameStore"],
          reason: "the cache in memory asks its second level on disk")
      ]),
    Module(
      name: "ZoetropeTerminal",
      arrows: [
        "Wire": [], "Encoding": ["Wire"], "Delivery": ["Encoding", "Wire"],
        "Session": ["Encoding", "Wire"],
      ]),
    Module(
      name: "ZoetropeProcess",
      arrows: ["Process": [], "Input": ["Process"], "Output": ["Input", "Process"]]),
    Module(
      name: "ZoetropePlayer",
      arrows: [
        "/": [], "Device": [], "Keys": [], "View": ["/"],
        "Session": ["/", "Device", "Keys", "View"],
        "Preview": ["/", "Device", "Session"],
      ]),
    Module(
      name: "ZoetropeCLI",
      arrows: [
        "Help": [], "Options": [], "Reports": [], "Output": ["Reports"], "Explaining": ["Reports"],
        "Extraction": ["Options", "Output", "Reports"],
        "Sheets": ["Extraction", "Options", "Output", "Reports"],
        "Commands": [
          "Explaining", "Extraction", "Help", "Options", "Output", "Reports", "Sheets",
        ],
      ]),
  ]

  private static let sources = FilePath(#filePath).removingLastComponent().removingLastComponent()
    .removingLastComponent().removingLastComponent().appending("Sources")

  @Test(arguments: modules)
  func `folders name only the folders below them`(module: Module) throws {
    let files = try Self.files(of: Self.sources.appending(module.name))
    let unlisted = Set(files.map(\.folder)).subtracting(module.arrows.keys)
    #expect(unlisted.isEmpty)
    var homes: [Substring: Set<String>] = [:]
    for file in files {
      for name in file.declared { homes[name, default: []].insert(file.folder) }
    }
    var used: Set<String> = []
    for file in files {
      for name in file.mentioned {
        guard let folders = homes[name], !folders.contains(file.folder) else { continue }
        for folder in folders where module.arrows[file.folder]?.contains(folder) == false {
          let isExcepted = module.exceptions.contains {
            $0.from == file.folder && $0.to == folder && $0.types.contains(String(name))
          }
          #expect(isExcepted, "\(file.folder)/\(file.name) names \(name) of \(folder)")
          used.insert("\(file.folder) \(folder) \(name)")
        }
      }
    }
    for exception in module.exceptions {
      for name in exception.types {
        #expect(
          used.contains("\(exception.from) \(exception.to) \(name)"),
          "\(exception.from) no longer names \(name): take it off the list")
      }
    }
  }

  /// A file's folder, and the words of its code.
  private struct File {
    let folder: String
    let name: String
    let declared: Set<Substring>
    let mentioned: Set<Substring>

    init(folder: String, name: String, text: String) {
      self.folder = folder
      self.name = name
      var declared: Set<Substring> = []
      var mentioned: Set<Substring> = []
      for line in text.split(separator: "\n") {
        let code = line.split(separator: "//", maxSplits: 1)
        guard !line.drop(while: { $0 == " " }).hasPrefix("//"), let code = code.first else {
          continue
        }
        let words = code.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        mentioned.formUnion(words.filter { $0.first?.isUppercase == true })
        guard line.first != " ", line.first != "}", !words.contains("import") else { continue }
        let kinds: Set<Substring> = [
          "struct", "class", "enum", "protocol", "actor", "typealias",
        ]
        if let place = words.firstIndex(where: { kinds.contains($0) }), place + 1 < words.count {
          declared.insert(words[place + 1])
        }
      }
      (self.declared, self.mentioned) = (declared, mentioned)
    }
  }

  /// The module's Swift files; those of a folder's folders belong to the folder.
  private static func files(of module: FilePath) throws -> [File] {
    var files: [File] = []
    func add(_ directory: FilePath, _ folder: String) throws {
      for name in try FixtureFile.list(directory.string) {
        let path = directory.appending(name)
        if name.hasSuffix(".swift") {
          let text = String(decoding: try FixtureFile.read(path.string), as: UTF8.self)
          files.append(File(folder: folder, name: name, text: text))
        } else if !name.contains(".") {
          try add(path, folder == "/" ? name : folder)
        }
      }
    }
    try add(module, "/")
    return files
  }
}
