internal import CDeflate
internal import CXXHash
internal import ZoetropeShims

/// The C libraries that this build decodes with, for bug reports and for checking against advisories.
public enum LinkedLibraries {
  /// Names and versions, such as `libpng 1.6.39`: of the library that runs for libpng and xxHash, of
  /// the headers it was built with for giflib and libdeflate, which do not say.
  public static var versions: [String] {
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
