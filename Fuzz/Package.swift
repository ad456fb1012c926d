// swift-tools-version: 6.2
import PackageDescription

// Apart from the library's own package, so that no user's build sees any of this. `package` ends at
// a package's border: these targets import the library's modules as tests do, and a release build
// of them wants `-Xswiftc -enable-testing`.
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

/// Products of the library's package.
func products(_ names: String...) -> [Target.Dependency] {
  names.map { .product(name: $0, package: "zoetrope") }
}

/// A program that libFuzzer drives, or one that runs by itself.
func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: products("Zoetrope", "ZoetropeTestSupport") + dependencies,
    swiftSettings: settings)
}

let package = Package(
  name: "zoetrope-fuzz",
  dependencies: [
    .package(name: "zoetrope", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
  ],
  targets: [
    .target(name: "CFuzzer"),
    .target(
      name: "FuzzSupport",
      dependencies: ["CFuzzer"] + products("Zoetrope", "ZoetropeTestSupport"),
      swiftSettings: settings),
    program(
      "FuzzArguments",
      [
        "FuzzSupport", .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "SystemPackage", package: "swift-system"),
      ] + products("ZoetropeTerminal", "_ZoetropeCLI")),
  ]
    + [
      "FuzzScan", "FuzzCursor", "FuzzGIF", "FuzzAPNG", "FuzzDifferential", "FuzzCompositor",
      "FuzzStream", "FuzzEdits", "FuzzCompressor", "FuzzWriting",
    ].map { program($0, ["FuzzSupport"]) }
    + [program("FuzzPixels", [])],
  swiftLanguageModes: [.v6]
)
