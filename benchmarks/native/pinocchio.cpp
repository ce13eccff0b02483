// Pinocchio's algorithms as C++ calls them: a loop over states that times itself.
//
//   pinocchio MODEL STATES
//
// MODEL: text; one line for each joint (kind, parent, rotation by rows, position, mass, centre, inertia about it as xx xy
// yy xz yz zz, axis), and last the frame whose Jacobian is asked (joint, rotation, position), whose kind is "tip".
// STATES: doubles, for each state q, v, u.
// Reads lines "repeats function" and answers with the processor seconds that so many loops over all states took; for no
// repeats with the values at the first state.
#include <pinocchio/multibody.hpp>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <ctime>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace pin = pinocchio;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

template <typename Matrix> void take(std::istream &text, Matrix &numbers) {
  for (Eigen::Index row = 0; row < numbers.rows(); ++row)
    for (Eigen::Index column = 0; column < numbers.cols(); ++column) text >> numbers(row, column);
}

pin::JointModel joint(const std::string &kind, const Vector3d &axis) {
  const std::map<std::string, pin::JointModel> known = {
      {"JointModelRX", pin::JointModelRX()},
      {"JointModelRY", pin::JointModelRY()},
      {"JointModelRZ", pin::JointModelRZ()},
      {"JointModelPX", pin::JointModelPX()},
      {"JointModelPY", pin::JointModelPY()},
      {"JointModelPZ", pin::JointModelPZ()},
      {"JointModelRevoluteUnaligned", pin::JointModelRevoluteUnaligned(axis)},
      {"JointModelPrismaticUnaligned", pin::JointModelPrismaticUnaligned(axis)},
  };
  return known.at(kind);
}

pin::FrameIndex read(const char *file, pin::Model &model) {
  std::ifstream text(file);
  std::string kind;
  pin::JointIndex parent;
  while (text >> kind >> parent) {
    Matrix3d rotation;
    Vector3d position;
    take(text, rotation);
    take(text, position);
    const pin::SE3 place(rotation, position);
    if (kind == "tip") return model.addFrame(pin::Frame("tip", parent, 0, place, pin::OP_FRAME));
    double mass;
    Vector3d center, axis;
    Eigen::Matrix<double, 6, 1> I;
    text >> mass;
    take(text, center);
    take(text, I);
    take(text, axis);
    const auto index = model.addJoint(parent, joint(kind, axis), place, "joint" + std::to_string(model.njoints));
    model.appendBodyToJoint(index, pin::Inertia(mass, center, pin::Symmetric3(I)), pin::SE3::Identity());
  }
  throw std::runtime_error("the model has no tip");
}

int main(int, char **given) {
  pin::Model model;
  const pin::FrameIndex tip = read(given[1], model);
  pin::Data data(model);
  std::vector<VectorXd> q, v, u;
  std::ifstream states(given[2], std::ios::binary);
  VectorXd state(model.nq + 2 * model.nv);
  while (states.read(reinterpret_cast<char *>(state.data()), sizeof(double) * state.size())) {
    q.push_back(state.head(model.nq));
    v.push_back(state.segment(model.nq, model.nv));
    u.push_back(state.tail(model.nv));
  }
  pin::Data::Matrix6x J = pin::Data::Matrix6x::Zero(6, model.nv);
  const std::map<std::string, std::function<void()>> loops = {
      {"forward dynamics", [&] { for (std::size_t k = 0; k < q.size(); ++k) pin::aba(model, data, q[k], v[k], u[k]); }},
      {"derivatives", [&] {
         for (std::size_t k = 0; k < q.size(); ++k) pin::computeABADerivatives(model, data, q[k], v[k], u[k]);
       }},
      {"inverse dynamics", [&] { for (std::size_t k = 0; k < q.size(); ++k) pin::rnea(model, data, q[k], v[k], u[k]); }},
      {"mass matrix", [&] { for (std::size_t k = 0; k < q.size(); ++k) pin::crba(model, data, q[k]); }},
      {"Jacobian", [&] {
         for (std::size_t k = 0; k < q.size(); ++k)
           pin::computeFrameJacobian(model, data, q[k], tip, pin::LOCAL_WORLD_ALIGNED, J);
       }},
  };
  const std::map<std::string, std::function<Eigen::MatrixXd()>> values = {
      {"forward dynamics", [&] { return Eigen::MatrixXd(pin::aba(model, data, q[0], v[0], u[0])); }},
      {"derivatives", [&] {
         pin::computeABADerivatives(model, data, q[0], v[0], u[0]);
         Eigen::MatrixXd both(model.nv, 2 * model.nv);
         both << data.ddq_dq, data.ddq_dv;
         return both;
       }},
      {"inverse dynamics", [&] { return Eigen::MatrixXd(pin::rnea(model, data, q[0], v[0], u[0])); }},
      {"mass matrix", [&] {
         const Eigen::MatrixXd half = pin::crba(model, data, q[0]);
         return Eigen::MatrixXd(half.selfadjointView<Eigen::Upper>());
       }},
      {"Jacobian", [&] {
         J.setZero();
         pin::computeFrameJacobian(model, data, q[0], tip, pin::LOCAL_WORLD_ALIGNED, J);
         return Eigen::MatrixXd(J);
       }},
  };
  std::cout << std::setprecision(17);
  std::string line;
  for (long repeats; std::cin >> repeats && std::getline(std::cin >> std::ws, line);) {
    if (repeats == 0) {
      const Eigen::MatrixXd found = values.at(line)();
      for (Eigen::Index k = 0; k < found.size(); ++k) std::cout << found.reshaped<Eigen::RowMajor>()(k) << ' ';
      std::cout << std::endl;
      continue;
    }
    const auto &loop = loops.at(line);
    const std::clock_t began = std::clock();
    for (long turn = 0; turn < repeats; ++turn) loop();
    std::cout << double(std::clock() - began) / CLOCKS_PER_SEC << std::endl;
  }
}
