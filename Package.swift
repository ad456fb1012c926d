// swift-tools-version: 6.2
import PackageDescription

/// The settings of every Swift target in this package.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableExperimentalFeature("Lifetimes"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

/// The settings of user code: stricter imports, as in future language modes.
let userSettings: [SwiftSetting] = [
  .enableUpcomingFeature("MemberImportVisibility"), .treatAllWarnings(as: .error),
]

/// A system C library, found through pkg-config.
func systemLibrary(_ name: String, pkgConfig: String, apt: String, brew: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/\(name)", pkgConfig: pkgConfig,
    providers: [.apt([apt]), .brew([brew])])
}

let package = Package(
  name: "zoetrope",
  products: [
    .library(name: "Zoetrope", targets: ["Zoetrope"]),
    .library(name: "ZoetropeTerminal", targets: ["ZoetropeTerminal"]),
    .library(name: "ZoetropeTestSupport", targets: ["ZoetropeTestSupport"]),
    .executable(name: "zoetrope", targets: ["ZoetropeMain"]),
    // The C ABI of Sources/CZoetrope/zoetrope.h; `make lib` links it into one shared library.
    .library(name: "ZoetropeC", type: .static, targets: ["ZoetropeC"]),
    // The commands without their process, for the fuzzer of arguments; not for users.
    .library(name: "_ZoetropeCLI", targets: ["ZoetropeCLI"]),
  ],
  traits: [
    .trait(
      name: "CommandLine",
      description: "The command-line tool, which needs swift-argument-parser."),
    .default(enabledTraits: ["CommandLine"]),
  ],
  dependencies: [
    // UsageHint, ShortHelp and CompletionScript match the parser's messages, help and scripts, which a minor version
    // may reword.
    .package(
      url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.0")),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
  ],
  targets: [
    systemLibrary("CGIF", pkgConfig: "libgif", apt: "libgif-dev", brew: "giflib"),
    systemLibrary("CPNG", pkgConfig: "libpng", apt: "libpng-dev", brew: "libpng"),
    systemLibrary("CDeflate", pkgConfig: "libdeflate", apt: "libdeflate-dev", brew: "libdeflate"),
    systemLibrary("CXXHash", pkgConfig: "libxxhash", apt: "libxxhash-dev", brew: "xxhash"),
    .target(
      name: "ZoetropeShims",
      dependencies: ["CGIF", "CPNG", "CDeflate", "CXXHash"],
      // Dependencies of a static libpng; pkg-config lists them only for static linking.
      linkerSettings: [.linkedLibrary("z"), .linkedLibrary("m")]),
    // Values, bytes and threads; no image format.
    .target(
      name: "ZoetropeCore",
      dependencies: [
        "ZoetropeShims", "CXXHash",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings),
    // From bytes to frames and back: scanners, decoders, compositing, PNG encoding.
    .target(
      name: "ZoetropeCodec",
      dependencies: ["ZoetropeCore", "ZoetropeShims", "CGIF", "CDeflate"],
      swiftSettings: settings),
    // Scaling and conversion of bitmaps.
    .target(
      name: "ZoetropeScaling", dependencies: ["ZoetropeCore"], swiftSettings: settings),
    // Composited frames of images in any order; no caches and no clocks.
    .target(
      name: "ZoetropeFrames",
      dependencies: [
        "ZoetropeCore", "ZoetropeCodec", "ZoetropeScaling",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings),
    // Independent of each other, so that they compile in parallel.
    .target(name: "ZoetropeCaching", dependencies: ["ZoetropeFrames"], swiftSettings: settings),
    .target(
      name: "ZoetropeStore",
      dependencies: [
        "ZoetropeFrames", "ZoetropeShims",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings),
    .target(
      name: "ZoetropePlayback",
      dependencies: [
        "ZoetropeFrames", .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
    .target(name: "ZoetropeRemote", dependencies: ["ZoetropeFrames"], swiftSettings: settings),
    // Animations out: a writer of frames, and edits that copy compressed ones.
    .target(
      name: "ZoetropeWriting",
      dependencies: [
        "ZoetropeFrames", .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings),
    // The module that users import: all of the above, and loading.
    .target(
      name: "Zoetrope",
      dependencies: [
        "ZoetropeFrames", "ZoetropeCaching", "ZoetropeStore", "ZoetropePlayback",
        "ZoetropeRemote", "ZoetropeWriting", "ZoetropeShims", "CDeflate", "CXXHash",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings),
    // The header of the C ABI, and its implementation.
    .systemLibrary(name: "CZoetrope", path: "Sources/CZoetrope"),
    .target(
      name: "ZoetropeC",
      dependencies: [
        "Zoetrope", "ZoetropeShims", "CZoetrope",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings),
    .target(
      name: "ZoetropeTerminal",
      dependencies: ["ZoetropeFrames"],
      swiftSettings: settings),
    .target(
      name: "ZoetropeProcess",
      dependencies: [
        "Zoetrope", "ZoetropeShims",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings),
    .target(
      name: "ZoetropePlayer",
      dependencies: [
        "Zoetrope", "ZoetropeTerminal", "ZoetropeProcess",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings),
    // Predictions about other programs; only the command `explain` uses it.
    .target(name: "ZoetropeExplain", dependencies: ["ZoetropeFrames"], swiftSettings: settings),
    .target(
      name: "ZoetropeCLI",
      dependencies: [
        "Zoetrope", "ZoetropeTerminal", "ZoetropeProcess", "ZoetropePlayer", "ZoetropeExplain",
        "CZoetrope",
        .product(
          name: "ArgumentParser", package: "swift-argument-parser",
          condition: .when(traits: ["CommandLine"])),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "ZoetropeMain", dependencies: ["ZoetropeCLI"], swiftSettings: settings),
    // A single program for all examples needs only one link. Examples and documentation samples see what users
    // see.
    .executableTarget(
      name: "examples", dependencies: ["Zoetrope", "ZoetropeTerminal"], path: "Examples/Programs",
      packageAccess: false, swiftSettings: settings),
    .target(
      name: "DocumentationSamples",
      dependencies: ["Zoetrope", "ZoetropeTerminal", "ZoetropeTestSupport"],
      path: "Tests/DocumentationSamples", packageAccess: false, swiftSettings: userSettings),
    .target(
      name: "ZoetropeTestSupport",
      dependencies: ["Zoetrope", "CDeflate"],
      path: "Tests/ZoetropeTestSupport",
      swiftSettings: settings),
    .executableTarget(
      name: "zoetrope-fixtures",
      dependencies: ["Zoetrope", "ZoetropeTestSupport"],
      path: "Tests/FixtureTool",
      swiftSettings: settings),
    .executableTarget(
      name: "table-churn",
      dependencies: ["Zoetrope", .product(name: "SystemPackage", package: "swift-system")],
      path: "Tests/TableChurn",
      swiftSettings: settings),
    .target(
      name: "ParallelWidth", dependencies: ["ZoetropeShims"], path: "Tests/ParallelWidth"),
    .target(
      name: "TestRunning", dependencies: ["ParallelWidth", "Zoetrope"], path: "Tests/TestRunning",
      swiftSettings: settings),
    .testTarget(
      name: "ZoetropeTests",
      dependencies: [
        "Zoetrope", "ZoetropeFrames", "ZoetropeScaling", "ZoetropeCaching", "ZoetropeStore",
        "ZoetropePlayback", "ZoetropeRemote", "ZoetropeWriting", "ZoetropeCodec", "ZoetropeCore",
        "ZoetropeTerminal",
        "ZoetropeTestSupport",
        "ZoetropeShims", "TestRunning", "DocumentationSamples", "CDeflate", "table-churn",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ZoetropeCLITests",
      dependencies: [
        "ZoetropeMain", "ZoetropeCLI", "ZoetropeExplain", "ZoetropePlayer", "ZoetropeProcess",
        "Zoetrope", "ZoetropeTerminal", "ZoetropeTestSupport", "TestRunning", "examples",
        "CZoetrope",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ZoetropeTerminalTests",
      dependencies: ["Zoetrope", "ZoetropeTerminal", "TestRunning", "CDeflate"],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

// Benchmarks, and programs that check for hours, which no user's build sees: they compile what `make` has built already.
if Context.environment["ZOETROPE_PROGRAMS"] != nil {
  let testSupport: [Target.Dependency] = [
    "Zoetrope", "ZoetropeTestSupport", .product(name: "SystemPackage", package: "swift-system"),
  ]
  /// A program that reaches what users reach.
  func benchmark(_ name: String, _ folder: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
      name: name, dependencies: dependencies, path: "Benchmarks/Sources/\(folder)",
      packageAccess: false)
  }
  /// A program that calls `package` declarations.
  func program(_ name: String, _ path: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
  }
  package.targets += [
    benchmark(
      "bench-decode", "BenchDecode",
      ["Zoetrope", .product(name: "SystemPackage", package: "swift-system")]),
    benchmark("bench-scale", "ScaleBench", ["Zoetrope"]),
    .target(name: "MallocCount", path: "Benchmarks/Sources/MallocCount"),
    benchmark("bench-cache", "CacheBench", testSupport + ["MallocCount"]),
    benchmark("bench-pressure", "PressureBench", testSupport),
    benchmark("playback-timing", "PlaybackTiming", testSupport),
    program(
      "bench-stages", "Benchmarks/Sources/StageBench", ["Zoetrope", "ZoetropeTestSupport"]),
    program("check-edits", "Benchmarks/Sources/CheckEdits", testSupport),
    program("check-films", "Benchmarks/Sources/CheckFilms", testSupport),
    program("bench-write", "Benchmarks/Sources/WriteBench", ["Zoetrope"]),
    .systemLibrary(name: "CMalloc", path: "Fuzz/Sources/CMalloc"),
    program("soak", "Fuzz/Sources/Soak", testSupport + ["CMalloc"]),
    program("mutate", "Fuzz/Sources/Mutate", testSupport),
  ]
}

// Tests of the library alone need none of the tool, whose modules take longest to compile (see Scripts/sanitize.sh).
if Context.environment["ZOETROPE_WITHOUT_TOOL"] != nil {
  let tool: Set = [
    "ZoetropeMain", "ZoetropeCLI", "ZoetropeExplain", "ZoetropePlayer", "ZoetropeProcess",
    "ZoetropeC", "examples", "zoetrope-fixtures", "ZoetropeCLITests", "ZoetropeTerminalTests",
  ]
  package.targets.removeAll { tool.contains($0.name) }
  package.products.removeAll { ["zoetrope", "ZoetropeC", "_ZoetropeCLI"].contains($0.name) }
}

// A debug build does not specialize generics, on which tests then spend most of their time. `make` therefore optimizes
// the modules that compute. Packages that depend on a release of this one may not use such flags.
if Context.environment["ZOETROPE_OPTIMIZE"] != nil {
  let computing = [
    "ZoetropeCore", "ZoetropeCodec", "ZoetropeScaling", "ZoetropeWriting", "ZoetropeTestSupport",
  ]
  for target in package.targets where computing.contains(target.name) {
    target.swiftSettings?.append(.unsafeFlags(["-O"], .when(configuration: .debug)))
  }
}
