internal import CDeflate
internal import CXXHash
internal import ZoetropeShims

/// The C libraries of this build, for bug reports and security advisories.
package enum LinkedLibraries {
  /// Names and versions, such as `libpng 1.6.39`: the run-time version of libpng and xxHash, the header
  /// version of giflib and libdeflate, which do not report one at run time.
  package static var versions: [String] {
    [
      "giflib \(text(zt_gif_version()))", "libpng \(text(zt_png_version()))",
      "libdeflate \(LIBDEFLATE_VERSION_STRING)", "xxHash \(text(XXH_versionNumber()))",
    ]
  }

  /// Two decimal digits each for the second and third part.
  private static func text(_ version: UInt32) -> String {
    "\(version / 10000).\(version / 100 % 100).\(version % 100)"
  }
}
